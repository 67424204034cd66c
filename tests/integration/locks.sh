# SPDX-License-Identifier: MIT
# locks.sh - checks the tool "locks" on real runtimes: number and length of waits, types, owners and their
# stacks, waits that do not end, and the thread pool. The app contend waits a known number of times and
# measures the waits itself.
. "$(dirname "$0")/lib.sh"
need_real 3
[ -e "$BUILD/managed/contend/contend.dll" ] || skip_all "$0" "the app contend is not built"

compare() { # CLAIM CHECK SESSION: see locks_compare.py; the app's output is SESSION.txt
    python3 tests/integration/locks_compare.py "$2" "$tmp/$3" "$tmp/$3.txt" >"$tmp/said" 2>&1
    check "$1" $? "$tmp/said"
}
record() { # SESSION TOOL ARGUMENTS OF RUNSXS...
    local session=$1 tool=$2 status
    shift 2
    timeout -k 5 120 "$sxsprof" run --quiet --tool "$tool" -o "$tmp/$session" -- "$runsxs" --timeout 100 "$@" \
        >"$tmp/$session.txt" 2>"$tmp/log"
    status=$?
    cat "$tmp/log" >>"$tmp/$session.txt"
    check "$session: a recorded run succeeds" $status "$tmp/$session.txt"
}
compare_all() { # SESSION
    compare "$1: each wait that the runtime counts is recorded once" count "$1"
    compare "$1: each wait is as long as the program measured it" times "$1"
    compare "$1: the sums of each type are those of its waits" totals "$1"
    compare "$1: the owner is the thread that held the lock, and its stack says where" owners "$1"
    compare "$1: the stack of the wait has the method that entered the lock" stacks "$1"
}

for v in 8 9 $net10; do
    record "alone-$v" locks "$v" contend "waiters=3 rounds=1"
    compare_all "alone-$v"
done
record together locks 8 contend "waiters=3 rounds=1" 9 contend "waiters=3 rounds=1" $net10 contend "waiters=3 rounds=1"
compare_all together

record none locks:pool=off 8 contend none=1 9 contend none=1 $net10 contend none=1
compare "locks that no other thread wants leave no record" none none
record others locks:pool=off 8 contend "none=1 others=20" 9 contend "none=1 others=20" $net10 contend "none=1 others=20"
compare "waits for SemaphoreSlim, ReaderWriterLockSlim and events are no waits for monitors" others others
record open locks 8 contend "none=1 open=3" 9 contend "none=1 open=3" $net10 contend "none=1 open=3"
compare "waits that have not ended when the program ends are recorded as such" open open

timeout -k 5 120 "$sxsprof" run --quiet --tool locks -o "$tmp/killed" -- "$runsxs" --timeout 100 \
    9 contend "none=1 open=2 stay=1" >"$tmp/killed.txt" 2>&1 &
wait_until grep -q 'contend: contentions' "$tmp/killed.txt"
pid=$(basename "$(ls -d "$tmp"/killed/[0-9]*)")
kill -KILL "$pid"
wait 2>/dev/null
compare "waits in progress are in the file after kill -9" open killed

record pool locks 8 contend "none=1 starve=24" 9 contend "none=1 starve=24" $net10 contend "none=1 starve=24"
compare "the thread pool: starvation, threads that it adds, length of the queue" pool pool
record without locks:owners=off,pool=off 9 contend "waiters=2 rounds=1"
python3 -c '
import sys
sys.path.insert(0, "tests/integration")
import samples_file
s = samples_file.Samples(sys.argv[1])
assert s.costs and not s.pools and all(c.kind == samples_file.LOCK for c in s.costs)' "$tmp/without" >"$tmp/said" 2>&1
check "with owners=off and pool=off there are neither" $? "$tmp/said"
timeout -k 5 60 "$sxsprof" run --quiet --tool locks:owner=on -o "$tmp/wrong" -- "$runsxs" 9 hello "" >"$tmp/log" 2>&1
status=$?
check "a wrong option is refused: $(head -1 "$tmp/log")" "$([ $status -eq 2 ] && grep -q owners=on "$tmp/log"; echo $?)" "$tmp/log"

# The waiter is the function that called the lock, in runtimes whose locks are managed code, too; class constructors.
for v in 8 9 $net10; do
    timeout -k 5 120 "$sxsprof" run --quiet --tool locks --tool wait -o "$tmp/named-$v" -- "$runsxs" --timeout 100 "$v" named "work=500 constructor=1000" >"$tmp/log" 2>&1
    check "named-$v: a recorded run succeeds" $? "$tmp/log"
    "$sxsprof" report --data locks "$tmp/named-$v" >"$tmp/text" 2>&1
    grep -q 'Named.Program.All' "$tmp/text" && ! grep -q '\] System\.Threading\.\(Monitor\|Lock\)\.' "$tmp/text"
    check "$v: no function of the lock itself is the waiter" $? "$tmp/text"
    first_lines "$tmp/text" | grep -q '^  monitors and System.Threading.Lock; not SpinLock'
    check "$v: the first lines say which waits are not seen" $? "$tmp/text"
    "$sxsprof" report --data wait --format collapsed "$tmp/named-$v" 2>"$tmp/log" | grep '^Waits-For-Constructor' >"$tmp/text"
    case $v in 10*) want='wait: class constructor' ;; *) want='wait: monitor or lock' ;; esac
    grep -q "$want" "$tmp/text"
    check "$v: a thread behind a class constructor waits for that ($want)" $? "$tmp/text"
    "$sxsprof" report --data wait --format collapsed "$tmp/named-$v" 2>"$tmp/log" | grep '^Runs-Constructor' | grep -q 'wait: sleep'
    check "$v: the thread that runs it sleeps in it" $? "$tmp/text"
done
finish
