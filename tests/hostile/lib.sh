# SPDX-License-Identifier: MIT
# lib.sh - what the attackers of tests/hostile/ share. Each script there plays one attacker: a user, a process or a
# container that root's command meets, or a file that a stranger has sent. Source it first.
#
# Two users without names play the attacker and the victim; neither is in /etc/passwd. Scripts that need root say so
# and are skipped without it. Everything that an attacker makes lies in $tmp, which everybody may enter.
. "$(dirname "$0")/../integration/lib.sh"
# shellcheck disable=SC2034 # both are for the scripts
attacker=61001 victim=61002
chmod 755 "$tmp"

# needs_root NAME: skip the whole script unless it runs as root
needs_root() { [ "$(id -u)" = 0 ] || skip_all "$1" "needs root to play several users"; }
# needs_namespaces NAME: skip the whole script if mount, PID and user namespaces cannot be made
needs_namespaces() {
    unshare -U -m -p -f -r true 2>/dev/null || skip_all "$1" "namespaces cannot be made here"
}
# as USER COMMAND...: run a command as this user, without the groups and rights of root
as() { local user=$1; shift; setpriv --reuid "$user" --regid "$user" --clear-groups "$@"; }
# lair USER NAME: make a folder of this user in $tmp, and print its path
lair() { mkdir -m 755 "$tmp/$2" && chown "$1:$1" "$tmp/$2" && echo "$tmp/$2"; }
# cost COMMAND...: run a command for 120 s at most; sets $status, $seconds and $kib: the time, and the largest memory of
# one process of it. Its outputs go to $tmp/out and $tmp/err.
cost() {
    python3 -c '
import resource, subprocess, sys, time
began = time.monotonic()
with open(sys.argv[1], "wb") as out, open(sys.argv[2], "wb") as err:
    try:
        status = subprocess.run(sys.argv[4:], stdin=subprocess.DEVNULL, stdout=out, stderr=err, timeout=120).returncode
    except subprocess.TimeoutExpired:
        status = 124
usage = resource.getrusage(resource.RUSAGE_CHILDREN)
with open(sys.argv[3], "w") as to:
    print("%d %.2f %d" % (status, time.monotonic() - began, usage.ru_maxrss), file=to)
' "$tmp/out" "$tmp/err" "$tmp/cost" "$@"
    # shellcheck disable=SC2034 # for the scripts
    read -r status seconds kib <"$tmp/cost"
}
# at_most CLAIM SECONDS KIB: check what `cost` has measured
at_most() {
    awk -v s="$seconds" -v k="$kib" -v ms="$2" -v mk="$3" 'BEGIN { exit !(s <= ms && k <= mk) }'
    check "$1 (measured: $seconds s, $kib KiB)" $? "$tmp/err"
}
