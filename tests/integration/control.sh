# SPDX-License-Identifier: MIT
# control.sh - checks sxsprof start, stop, status and snapshot on programs with real runtimes: sessions with several
# tools begin and end one after the other while three runtimes work and the program forks; a snapshot is a session of
# its own; a session ends at its time limit; a program that ends in the middle of a request ends as always.
. "$(dirname "$0")/lib.sh"
need_real 3
words="nre=100 div=100 gcs=10 loops=1 pool=300 until=$tmp/stop"

# start_program OPTION... -- COMMAND...: $pid is the program's PID once its runtimes are live
start_program() {
    rm -rf "$tmp/stop" "$tmp/pid" "$tmp/first"
    # shellcheck disable=SC2016 # the shell that is started expands it, and is replaced by the program
    timeout -k 5 300 "$sxsprof" run --quiet -o "$tmp/first" "$@" >"$tmp/log" 2>&1 &
    run=$!
    wait_until test -s "$tmp/pid"
    pid=$(cat "$tmp/pid")
}
# shellcheck disable=SC2016
note='echo $$ >"$0"; exec "$@"'
three_live() { [ "$("$sxsprof" status "$pid" 2>/dev/null | grep -c ' picked, live ')" -eq 3 ]; }
is_idle() { "$sxsprof" status "$pid" 2>/dev/null | grep -q 'nothing is recorded'; }
# stacks DIR: how many samples the session has in managed code of all three runtimes; 0: one has none
stacks() {
    "$sxsprof" report --format collapsed "$1" 2>/dev/null | python3 -c '
import re, sys
n = {}
for line in sys.stdin:
    stack, count = line.rsplit(" ", 1)
    for version in set(re.findall(r"\[(\d+)\.0\.\d+\]", stack)):
        n[version] = n.get(version, 0) + float(count)
print(int(sum(n.values())) if set(n) >= {"8", "9", "10"} else 0)'
}
has_stacks() { "$sxsprof" snapshot --quiet -o "$tmp/snap" "$pid" 2>>"$tmp/log" && taken=$(stacks "$tmp/snap") && [ "$taken" -gt 0 ] || { rm -rf "$tmp/snap"; false; }; }

start_program -- sh -c "$note" "$tmp/pid" "$runsxs" --timeout 280 --churn 'forks=20 threads=20' \
    8 stress "$words" 9 stress "$words" 10 stress "$words"
wait_until three_live && is_idle
check "a program that was started without tools records nothing" $? "$tmp/log"

"$sxsprof" start --tool sample:cpu=499 -o "$tmp/one" "$pid" >"$tmp/out" 2>&1 &&
    grep -q "session 1 of process $pid is on: sample:cpu=499" "$tmp/out"
check "start begins a session" $? "$tmp/out"
"$sxsprof" start --tool wait -o "$tmp/two" "$pid" >"$tmp/out" 2>&1
[ $? -eq 2 ] && grep -q 'sample:cpu=499' "$tmp/out" && [ ! -e "$tmp/two" ]
check "a second session is refused with the name of what is on; it leaves no folder" $? "$tmp/out"
wait_until has_stacks
check "a snapshot is a session with stacks of three runtimes" $? "$tmp/log"
"$sxsprof" status --format json "$pid" | python3 -c '
import json, sys
s = json.load(sys.stdin)
assert s["phase"] == "on" and s["session"]["number"] == 1 and s["session"]["disk_bytes"] > 0, s
assert s["session"]["tools"] == "sample:cpu=499" and s["session"]["folder"].startswith(sys.argv[1]), s' "$tmp/one" 2>"$tmp/out"
check "the session goes on after the snapshot" $? "$tmp/out"
"$sxsprof" stop "$pid" >"$tmp/out" 2>&1 && grep -q 'samples, ' "$tmp/out" && is_idle
check "stop ends it and prints what it has" $? "$tmp/out"
whole=$(stacks "$tmp/one")
[ "$whole" -ge "$taken" ]
check "the session has what the snapshot had, and more ($taken, then $whole)" $?
"$sxsprof" stop "$pid" >"$tmp/out" 2>&1
[ $? -eq 1 ]
check "there is nothing more to stop" $? "$tmp/out"

"$sxsprof" start --quiet --tool sample -o "$tmp/moved" "$pid" >"$tmp/out" 2>&1 && mv "$tmp/moved" "$tmp/fetched" &&
    "$sxsprof" stop "$pid" >"$tmp/out" 2>&1 && grep -q 'is not in .*/moved/.* any more' "$tmp/out" && is_idle
check "stop ends a session whose folder has been fetched meanwhile" $? "$tmp/out"

for i in 1 2 3 4 5; do
    tool=sample
    [ $((i % 2)) -eq 0 ] && tool='wait'
    "$sxsprof" start --quiet --tool $tool -o "$tmp/s$i" "$pid" >"$tmp/out" 2>&1 && "$sxsprof" status "$pid" >>"$tmp/out" &&
        "$sxsprof" stop --quiet "$pid" >>"$tmp/out" 2>&1 && "$sxsprof" report "$tmp/s$i" >>"$tmp/out" 2>&1 ||
        break
done
[ "$i" -eq 5 ] && is_idle
check "sessions with other tools follow, each complete" $? "$tmp/out"
"$sxsprof" start --quiet --tool sample --duration 100ms -o "$tmp/limit" "$pid" >"$tmp/out" 2>&1 &&
    wait_until is_idle && "$sxsprof" report "$tmp/limit" >>"$tmp/out" 2>&1
check "a session ends at its time limit, complete" $? "$tmp/out"
: >"$tmp/stop"
wait $run
check "the program has done all its work right beside that" $? "$tmp/log"

start_program --tool sample -- sh -c "$note" "$tmp/pid" "$runsxs" --timeout 280 \
    8 stress "$words" 9 stress "$words" 10 stress "$words"
wait_until three_live
"$sxsprof" stop --quiet "$pid" >"$tmp/out" 2>&1 && is_idle && "$sxsprof" report "$tmp/first" >>"$tmp/out" 2>&1 &&
    "$sxsprof" start --quiet --tool wait -o "$tmp/other" "$pid" >>"$tmp/out" 2>&1
check "a session of run is ended, and another begins" $? "$tmp/out"
: >"$tmp/stop"
wait $run && "$sxsprof" report "$tmp/other" >"$tmp/out" 2>&1
check "the program ends with the session on, which is kept" $? "$tmp/log"

# Programs that end while requests are under way: at once, or with a session on.
bad=
for i in 1 2 3 4 5 6; do
    start_program -- sh -c "$note" "$tmp/pid" "$runsxs" --timeout 100 8 hello '' 9 hello ''
    while kill -0 $run 2>/dev/null; do
        rm -rf "$tmp/end"
        timeout 60 "$sxsprof" start --quiet --tool sample -o "$tmp/end" "$pid" >"$tmp/out" 2>&1
        [ $? -gt 2 ] && bad="start: $(cat "$tmp/out")"
        [ $((i % 2)) -eq 0 ] && timeout 60 "$sxsprof" stop --quiet "$pid" >"$tmp/out" 2>&1
        [ $? -gt 2 ] && bad="stop: $(cat "$tmp/out")"
    done
    wait $run || bad="the program: $(cat "$tmp/log")"
done
echo "$bad" >"$tmp/out"
[ -z "$bad" ]
check "programs that end in the middle of requests end as always, and so do the commands" $? "$tmp/out"

# records CLAIM: the one runtime of $pid is recorded, copied, and the session ends
records() {
    one_live() { "$sxsprof" status "$pid" 2>/dev/null | grep -q ' picked, live '; }
    wait_until one_live
    (cd "$tmp" && "$sxsprof" start --tool sample "$pid" && "$sxsprof" snapshot -o "$tmp/copy" "$pid" &&
        "$sxsprof" stop "$pid" && "$sxsprof" report "$tmp/copy") >"$tmp/out" 2>&1
    check "$1" $? "$tmp/out"
    : >"$tmp/stop"
    wait $run
    check "$1: the program ends as always" $? "$tmp/log"
    rm -rf "$tmp/stop" "$tmp/pid" "$tmp/copy"
}
sxsprof=$(realpath "$sxsprof") runsxs=$(realpath "$runsxs")
rm -f "$tmp/stop" "$tmp/pid"
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
    chmod 755 "$tmp"
    (eval "$("$sxsprof" env)" && exec timeout --foreground -k 5 100 sh -c "echo \$\$ >$tmp/pid; exec \"\$@\"" sh \
        setpriv --reuid 54321 --regid 54321 --clear-groups "$runsxs" --timeout 90 8 stress "$words") >"$tmp/log" 2>&1 &
    run=$!
    wait_until test -s "$tmp/pid"
    pid=$(cat "$tmp/pid")
    records "root begins a session in a program of another user, in a folder that it gives to that user"
else
    ok "root begins a session in a program of another user # SKIP needs root and setpriv"
fi
mkdir "$tmp/private"
if unshare -m -n true 2>/dev/null; then
    # In a mount namespace with another /tmp and another network. The file that ends the program is outside of /tmp.
    (eval "$("$sxsprof" env)" && exec timeout --foreground -k 5 100 unshare -m -n sh -c "mount --bind $tmp/private /var/tmp &&
        mount -t tmpfs none /mnt; echo \$\$ >$tmp/pid; exec \"\$@\"" sh "$runsxs" --timeout 90 9 stress "$words") >"$tmp/log" 2>&1 &
    run=$!
    wait_until test -s "$tmp/pid"
    pid=$(cat "$tmp/pid")
    records "root begins a session in a program with other mounts and another network"
    rm -rf "/tmp/sxsprof-$pid"
else
    ok "root begins a session in a program with other mounts # SKIP needs root"
fi
finish
