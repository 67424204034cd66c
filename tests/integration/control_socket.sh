# SPDX-License-Identifier: MIT
# control_socket.sh - checks the control socket of a program with three runtimes: its user and root are served, others
# are refused; garbage, half requests, slow and killed clients and a crowd of a thousand neither block the socket nor
# change what the program does; a name that somebody else has taken misleads nobody.
. "$(dirname "$0")/lib.sh"
need_real 3
clients=$PWD/tests/integration/control_clients.py
words="nre=200 div=200 gcs=10 loops=1 pool=500 until=$tmp/stop"
ulimit -S -n "$(ulimit -H -n)"

# start BEFORE COMMAND...: starts the program by COMMAND, after the shell commands BEFORE. $pid is its PID.
start() {
    rm -f "$tmp/stop" "$tmp/pid"
    (
        eval "$("$sxsprof" env)"
        # The shell is replaced, so its PID becomes that of the program.
        exec timeout --foreground -k 5 300 sh -c "echo \$\$ >$tmp/pid; $1; shift; exec \"\$@\"" sh "$@"
    ) >"$tmp/log" 2>&1 &
    run=$!
    wait_until test -s "$tmp/pid"
    pid=$(cat "$tmp/pid")
}
lives() { "$sxsprof" status "$pid" 2>/dev/null | grep -q ' picked, live '; }
three_live() { [ "$("$sxsprof" status "$pid" 2>/dev/null | grep -c ' picked, live ')" -eq 3 ]; }
# ends CLAIM: the program ends, and has done its work right
ends() {
    : >"$tmp/stop"
    wait $run
    check "$1" $? "$tmp/log"
}
have_users=
[ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null && have_users=1
chmod 755 "$tmp"
cp "$clients" "$tmp/clients.py"
other="setpriv --reuid 54321 --regid 54321 --clear-groups"

start : "$runsxs" --timeout 280 8 stress "$words" 9 stress "$words" 10 stress "$words"
wait_until three_live
check "status lists three live runtimes" $? "$tmp/log"
"$sxsprof" status --format json "$pid" >"$tmp/status"
python3 - "$tmp/status" "$pid" <<'END' >"$tmp/out" 2>&1
import json, sys
s = json.load(open(sys.argv[1]))
assert s["pid"] == int(sys.argv[2]), s
assert sorted(r["version"].split(".")[0] for r in s["runtimes"]) == ["10", "8", "9"], s
assert all(r["is_live"] and r["path"].endswith("/libcoreclr.so") for r in s["runtimes"]), s
END
check "status as JSON has them, too" $? "$tmp/out"

for kind in 'garbage 300' 'half 100' 'slow 40' 'killed 150' 'crowd 1000'; do
    # shellcheck disable=SC2086 # the kind and a number
    python3 "$clients" "$pid" $kind >"$tmp/out" 2>&1
    check "clients: $kind: each is refused, served or closed" $? "$tmp/out"
    three_live
    check "after that, status is answered" $? "$tmp/log"
done

if [ $have_users ]; then
    # shellcheck disable=SC2086 # a command
    $other /usr/bin/python3 -B "$tmp/clients.py" "$pid" stranger >"$tmp/out" 2>&1
    check "another user is refused, and nothing is done" $? "$tmp/out"
    $other "$sxsprof" status "$pid" >"$tmp/out" 2>&1
    [ $? -eq 2 ] && grep -q 'expected its own user, or root' "$tmp/out"
    check "the command tells another user so" $? "$tmp/out"
    unshare -n "$sxsprof" status "$pid" >"$tmp/out" 2>&1 && grep -q ' picked, live ' "$tmp/out"
    check "root reaches the program from another network" $? "$tmp/out"
else
    ok "another user is refused, and nothing is done # SKIP needs root and setpriv"
fi
ends "the program's three runtimes have done all their work right beside that"

few="nre=20 div=20 gcs=2 loops=1 pool=50 until=$tmp/stop"
if [ $have_users ]; then
    # shellcheck disable=SC2086 # a command
    start : $other "$runsxs" --timeout 100 8 stress "$few"
    wait_until lives
    check "root reaches a program of another user" $? "$tmp/log"
    ends "that program ends as always"
else
    ok "root reaches a program of another user # SKIP needs root and setpriv"
fi

# squat N: somebody takes the first N names of the socket before the program can
squat() {
    start 'kill -STOP $$' "$runsxs" --timeout 100 8 stress "$few"
    wait_until grep -q '^State:.T' "/proc/$pid/status"
    python3 "$clients" "$pid" squat "$1" >"$tmp/squatter" 2>&1 &
    squatter=$!
    wait_until grep -q taken "$tmp/squatter"
    kill -CONT "$pid"
}
leave() { { kill -9 $squatter && wait $squatter; } 2>/dev/null; }
squat 1
wait_until lives
check "with its name taken the program has another, which the command finds" $? "$tmp/log"
ends "that program ends as always, too"
leave
squat 4
wait_until lives
check "with all names taken it has one that nobody can guess, which the command finds" $? "$tmp/log"
is_left_alone() { ! grep -q received "$tmp/squatter"; }
is_left_alone
check "and sends nothing to the process that has taken the others" $? "$tmp/squatter"
leave
ends "that program does its work all the same"

SXSPROF_CONTROL=off start : "$runsxs" --timeout 100 8 stress "$few"
wait_until grep -q stress.dll "/proc/$pid/maps"
"$sxsprof" status "$pid" >"$tmp/out" 2>&1
[ $? -eq 2 ] && grep -q "started with SXSPROF_CONTROL=off" "$tmp/out"
check "with SXSPROF_CONTROL=off there is no socket, and the command says why" $? "$tmp/out"
ends "that program ends as always, without it"
finish
