# SPDX-License-Identifier: MIT
# wait.sh - checks the tool "wait" on real runtimes: what threads of every kind wait for.
. "$(dirname "$0")/lib.sh"
need_real 3
[ -e "$BUILD/managed/contend/contend.dll" ] || skip_all "$0" "the app contend is not built"

record() { # SESSION TOOLS ARGUMENTS OF RUNSXS...
    local session=$1 tools=$2
    shift 2
    # shellcheck disable=SC2086 # several options
    timeout -k 5 120 "$sxsprof" run --quiet $tools -o "$tmp/$session" -- "$runsxs" --timeout 100 "$@" >"$tmp/log" 2>&1
    check "$session: a recorded run succeeds" $? "$tmp/log"
    "$sxsprof" report --data wait --format collapsed "$tmp/$session" >"$tmp/$session.stacks" 2>"$tmp/log"
    check "$session: its waits are reported" $? "$tmp/log"
}
compare() { # SESSION SECONDS RUNTIMES
    python3 tests/integration/wait_compare.py "$tmp/$1.stacks" "$2" "$3" >"$tmp/said" 2>&1
    check "$1: each thread waits for what it is named after, for as long as it runs" $? "$tmp/said"
}

for v in 8 9 $net10; do
    record "alone-$v" "--tool wait" "$v" contend "none=1 kinds=3"
    compare "alone-$v" 3 1
done
record together "--tool wait:rate=50 --tool locks:pool=off" 8 contend "none=1 kinds=3" 9 contend "none=1 kinds=3" $net10 contend "none=1 kinds=3"
compare together 3 3
record shared "--tool sample:wall=50 --tool wait" 9 contend "none=1 kinds=3"
compare shared 3 1
timeout -k 5 60 "$sxsprof" run --quiet --tool sample --tool wait -o "$tmp/refused" -- "$runsxs" --timeout 50 9 hello "" >"$tmp/log" 2>&1
status=$?
n=$(grep -c 'tool wait is off: .* only with sample:wall' "$tmp/log")
check "beside sample by CPU time wait is refused in one line, and the program runs" "$([ $status -eq 0 ] && [ "$n" = 1 ]; echo $?)" "$tmp/log"
"$sxsprof" report --data wait "$tmp/together" >"$tmp/text" 2>&1
check "the text report of waits is written" $? "$tmp/text"
grep -q 'wait: thread pool has no work' "$tmp/text" && grep -q 'wait: monitor or lock' "$tmp/text"
check "it has what threads wait for" $? "$tmp/text"
hidden='before .NET 10, a wait for a class constructor of another thread counts as monitor or lock'
"$sxsprof" report --data wait "$tmp/alone-$net10" >"$tmp/new" 2>&1
grep -q "^  $hidden$" "$tmp/text" && ! grep -q "$hidden" "$tmp/new" && grep -q 'wait: class constructor' "$tmp/new"
check "it says where waits for class constructors are, if they have no class of their own" $? "$tmp/text"
finish
