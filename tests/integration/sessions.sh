# SPDX-License-Identifier: MIT
# sessions.sh - checks that sessions begin and end in a process with three runtimes under load, and
# that the runtimes can be detached, and attached to again.
. "$(dirname "$0")/lib.sh"
need_real 3
clsid=$(sed -n 's/.*SXSPROF_CLSID "{\(.*\)}".*/\1/p' include/sxsprof.h)
work="nre=20 div=20 gcs=4 loops=1 pool=20 until=$tmp/until"

runs() { pid=$(pgrep -P $timeout_pid -x runsxs) && [ "$(grep -c 'stress\.dll' "/proc/$pid/maps")" -ge 3 ]; }
# Status 0 when the process has $1 runtimes that are profiled.
has_live() {
    python3 - "$pid" "$1" <<'P'
import socket, sys
start = open("/proc/%s/stat" % sys.argv[1]).read().rpartition(")")[2].split()[19]
s = socket.socket(socket.AF_UNIX)
s.settimeout(60)
s.connect("\0sxsprof/%s/%s" % (sys.argv[1], start))
s.sendall(b"sxsprof 1 status\n\n")
text = b""
while not text.endswith(b"\n\n"):
    text += s.recv(4096) or b"\n\n"
live = [l for l in text.decode().splitlines() if l.startswith("runtime=") and " live " in l]
sys.exit(0 if len(live) == int(sys.argv[2]) else 1)
P
}
attach() { # folder id
    printf 'sxsprof 1 attach\ntools=sample\nout=%s\nid=%s\n\n' "$1" "$2" >"$tmp/message"
    python3 tests/integration/attach.py "$pid" "$clsid" "$PWD/$BUILD/libsxsprof.so" "$tmp/message"
}
client() { python3 tests/integration/sessions.py "$1" "$pid" "$sxsprof" ${2:+"$2" "$3"}; }

CORECLR_ENABLE_PROFILING=1 CORECLR_PROFILER="{$clsid}" CORECLR_PROFILER_PATH=$PWD/$BUILD/libsxsprof.so \
    timeout -k 5 400 "$runsxs" --timeout 360 8 stress "$work" 9 stress "$work" 10 stress "$work" >"$tmp/out" 2>&1 &
timeout_pid=$!
pid=
wait_until runs && wait_until has_live 3

mkdir "$tmp/s"
client sessions "$tmp/s" 10 >"$tmp/log" 2>&1
check "10 sessions in one process with .NET 8, 9 and 10: each has samples, and leaves no thread and no mapping" $? "$tmp/log"

{ client detach && wait_until has_live 0; } >"$tmp/log" 2>&1
check "all three runtimes let the library go" $? "$tmp/log"

again() {
    local i
    for i in 1 2 3; do
        attach "$tmp/again$i" "again$i" || return 1
        wait_until sampled "$tmp/again$i" || return 1
        client detach && wait_until has_live 0 || return 1
    done
}
sampled() { "$sxsprof" report "$1" 2>/dev/null | grep -q '[1-9][0-9]* samples'; }
again >"$tmp/log" 2>&1
check "the library is attached again three times by a message, and takes samples" $? "$tmp/log"

# The command that asked for this one is gone: it does not detach, and holds no session.
fails() {
    printf 'sxsprof 1 attach\ntools=nothing\nout=%s\nid=fails\nduration_ms=4000\ndetach=1\n\n' "$tmp/fails" >"$tmp/message"
    python3 tests/integration/attach.py "$pid" "$clsid" "$PWD/$BUILD/libsxsprof.so" "$tmp/message"
    has_live 1 && wait_until has_live 0
}
fails >"$tmp/log" 2>&1
check "a runtime whose session cannot begin lets the library go at the time limit of the attach" $? "$tmp/log"

rows=$("$sxsprof" report --format json "$tmp/again3" | python3 -c '
import json, sys
print([r["runtime"] for r in json.load(sys.stdin)["runtimes"] if r["state"] == "picked"])')
[ "$(echo "$rows" | grep -cE '^\[[123]\]$')" -eq 1 ]
check "a runtime has the same number after each attach" $? "$tmp/log"

: >"$tmp/until"
wait $timeout_pid
check "the program ends as without a profiler" $? "$tmp/out"
finish
