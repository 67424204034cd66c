# SPDX-License-Identifier: MIT
# attach_ports_full.sh - plays a user who gives many sockets the name of another user's diagnostics port, so that the
# true one is not found among them, and writes lines about the true one into /proc/net/unix. It is where no setting says.
# Then once more on a kernel without unix_diag, where those lines are all that there is.
. "$(dirname "$0")/lib.sh"
needs_root attach_ports_full
. tests/hostile/target.inc
# The name of a socket has 107 bytes at most, and the folder of a test may take most of them.
short=$(mktemp -d /tmp/ports.XXXXXX) && chmod 755 "$short"
trap 'kill $pids 2>/dev/null; wait $pids 2>/dev/null; rm -rf "$tmp" "$short"' EXIT
lair=$short/lair hidden=$short/hidden
mkdir -m 755 "$lair" "$hidden" && chown $attacker:$attacker "$lair" && chown $victim:$victim "$hidden"
# shellcheck disable=SC2046 # a command and its arguments
target $(user $victim) env TMPDIR="$hidden" -- answer "$hidden"
usual=$pid
mkdir "$hidden/changed" && chown $victim:$victim "$hidden/changed"
# shellcheck disable=SC2046
target $(user $victim) env TMPDIR=/tmp -- answer "$hidden/changed"
changed=$pid
# shellcheck disable=SC2046
$(user $attacker) env python3 - "$lair" "$tmp/ready/full" "$usual" "$changed" <<'END' &
import os, resource, socket, sys, time
hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
os.chdir(sys.argv[1])
kept = []
for pid in sys.argv[3:]:
    for i in range(400):
        folder = "%s/%s-%d" % (sys.argv[1], pid, i)
        os.mkdir(folder)
        kept.append(socket.socket(socket.AF_UNIX))
        kept[-1].bind("%s/dotnet-diagnostic-%s-1-socket" % (folder, pid))
        kept[-1].listen(1)
    with open("/proc/net/unix") as f:
        fields = [line.split() for line in f]
    true = [x[6] for x in fields if len(x) == 8 and "-%s-" % pid in x[7] and not x[7].startswith(sys.argv[1])]
    lines = "%s\n0: 2 0 0 1 1 %s " % (pid, true[0])
    os.mkdir(lines)
    for i in range(400):
        kept.append(socket.socket(socket.AF_UNIX))
        kept[-1].bind("%s/dotnet-diagnostic-%s-%d-socket" % (lines, pid, i))
open(sys.argv[2], "w").close()
time.sleep(1000)
END
pids="$pids $!"
full() { [ -e "$tmp/ready/full" ]; }
wait_until full
attach_to usual "$usual"
attach_to changed "$changed"
attached
# The process answers, and refuses the attach with a reason of its own.
grep -q CONCURRENT_GC_NOT_PROFILABLE "$tmp/usual.log"
check "the port at the usual place is found among 400 others" $? "$tmp/usual.log"
grep -q CONCURRENT_GC_NOT_PROFILABLE "$tmp/changed.log"
check "the port at an unusual place is found among 400 others" $? "$tmp/changed.log"
${CC:-cc} -O1 -o "$tmp/no_unix_diag" tests/hostile/no_unix_diag.c
if "$tmp/no_unix_diag" true 2>/dev/null; then
    printf '#!/bin/sh\nexec "%s" "%s" "$@"\n' "$tmp/no_unix_diag" "$(realpath "$sxsprof")" >"$tmp/sxsprof" && chmod 755 "$tmp/sxsprof"
    sxsprof=$tmp/sxsprof
    attach_to lines.usual "$usual"
    attach_to lines.changed "$changed"
    attached
    grep -q CONCURRENT_GC_NOT_PROFILABLE "$tmp/lines.usual.log"
    check "without unix_diag, the port at the usual place is found" $? "$tmp/lines.usual.log"
    grep -q CONCURRENT_GC_NOT_PROFILABLE "$tmp/lines.changed.log"
    check "without unix_diag, the port at an unusual place is found, behind 400 forged lines" $? "$tmp/lines.changed.log"
else
    skip "a kernel without unix_diag" "system calls cannot be filtered here"
fi
finish
