#!/bin/bash
# SPDX-License-Identifier: MIT
# push_sidecar.sh - checks that a reader of a session knows whether its process runs when that is in another PID
# namespace, as for a sidecar container: push --follow sends all of it, top shows it as running, and both see its end,
# also by kill -9. Needs root.
. "$(dirname "$0")/lib.sh"
need_real 1
[ "$(id -u)" = 0 ] && unshare -p -m -f true 2>/dev/null || skip_all "$0" "needs root to make namespaces"
unset http_proxy https_proxy HTTP_PROXY HTTPS_PROXY all_proxy ALL_PROXY DEBUGINFOD_URLS
server= pid= outer=
trap 'kill $server $pid $outer 2>/dev/null; rm -rf "$tmp"' EXIT
mkdir "$tmp/kept" "$tmp/running"
python3 tests/command/push_receiver.py "$tmp/kept" >"$tmp/port" 2>"$tmp/log" &
server=$!
wait_until test -s "$tmp/port"
to=http://127.0.0.1:$(cat "$tmp/port")
version=$(echo "$versions" | tail -n 1)

# program FOLDER: records into it, in a PID namespace of its own, under a number that no process has outside
program() {
    rm -f "$tmp/end"
    # shellcheck disable=SC2016
    timeout -k 5 200 unshare -p -m -f --mount-proc --kill-child bash -c '
        echo 300000 >/proc/sys/kernel/ns_last_pid 2>/dev/null
        "$0" run --quiet --tool sample:wall=199 -o "$1" -- "$2" --timeout 180 "$3" stress "nre=0 div=0 gcs=5 loops=1 pool=5 until=$4"' \
        "$sxsprof" "$1" "$runsxs" "$version" "$tmp/end" >"$tmp/log" 2>&1 &
    outer=$!
    recorded() { [ -n "$(find "$1" -name samples -size +0 2>/dev/null)" ]; }
    wait_until recorded "$1"
}
running() { # FOLDER: what top says, in its last line
    timeout 60 "$sxsprof" top --format json -n 2 --refresh 0.5 "$1" 2>"$tmp/err" | tail -n 1 |
        python3 -c 'import json, sys; print(json.load(sys.stdin)["running"])' 2>&1
}
is_running() { [ "$(running "$1")" = "$2" ]; }
arrived() { [ "$(find "$tmp/kept" -name '*.json' | wc -l)" -ge "$1" ]; }

program "$tmp/running/one"
inside=$(basename "$tmp"/running/one/[0-9]*)
! kill -0 "$inside" 2>/dev/null
check "no process has the number $inside outside" $?
"$sxsprof" push --server "$to" --follow "$tmp/running" --period 1s --queue "$tmp/q" >"$tmp/follow" 2>&1 &
pid=$!
wait_until arrived 5
check "push --follow sends batch after batch while the process runs" $? "$tmp/follow"
is_running "$tmp/running/one" True
check "top shows it as running" $? "$tmp/err"
touch "$tmp/end"
wait $outer
check "the program was recorded" $? "$tmp/log"
is_running "$tmp/running/one" False
check "top shows its end" $? "$tmp/err"
seconds=$("$sxsprof" report --format json "$tmp/running/one" 2>/dev/null | python3 -c 'import json, sys
r = json.load(sys.stdin)["runtimes"][0]; print(int((r["ended_ns"] - r["started_ns"]) / 1e9) if r.get("ended_ns") else 5)' 2>/dev/null || echo 5)
wait_until arrived "$seconds"
check "each second of it has arrived ($seconds)" $? "$tmp/follow"

program "$tmp/running/two"
is_running "$tmp/running/two" True
check "another one runs" $? "$tmp/err"
kill -9 "$(pgrep -P $outer)"
wait $outer 2>/dev/null
ended() { is_running "$tmp/running/two" False; }
wait_until ended
check "top sees the end of a process that was killed" $? "$tmp/err"
kill -INT $pid
wait $pid
check "push ends with status 0" $? "$tmp/follow"
pid=
finish
