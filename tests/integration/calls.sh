# SPDX-License-Identifier: MIT
# calls.sh - checks that the tool "calls" counts every call in programs on real runtimes.
# The app "calls" counts its own calls and prints the numbers; the report must have the same numbers. The
# shadow stack of the tool must be the same as the runtime's own stack.
. "$(dirname "$0")/lib.sh"
need_real 3
[ -e "$BUILD/managed/calls/calls.dll" ] || skip_all "$0" "the app calls is not built"
here=tests/integration
app="fib=15 threads=4 even=101 throws=10 yields=20 steps=10 generic=40 rounds=2 storm=20 values=2000 kinds=300 native=5"
if [ -e "$BUILD/managed/calls/tail.dll" ]; then
    app="$app tails=100001"
else
    ok "tail calls # SKIP the IL assembler could not be had"
fi

run() { # FOLDER TOOL [OPTION OF sxsprof]... -- COMMAND...: records COMMAND into $tmp/FOLDER
    rm -rf "${tmp:?}/$1"
    out=$1 tool=$2
    shift 2
    timeout -k 5 120 "$sxsprof" run --quiet --tool "$tool" -o "$tmp/$out" "$@" >"$tmp/log" 2>&1
}
report() { "$sxsprof" report --format json "$tmp/$1" >"$tmp/json" 2>>"$tmp/log"; }
known() { report "$1" && python3 $here/calls_expected.py "$tmp/json" "$tmp/log" ${2:-} >"$tmp/said" 2>&1; }
# functions EXPRESSION: evaluates a Python expression over f, the list of functions in the last report
functions() { python3 -c 'import json,sys; f=json.load(open(sys.argv[1]))["functions"]; sys.exit(not eval(sys.argv[2]))' "$tmp/json" "$1"; }
both="--only calls:* --only tail:*"

# ---- recorded counts are those of the app -------------------------------------------------------
for mode in count time tree; do
    for v in $versions; do
        # shellcheck disable=SC2086
        run one calls:$mode $both -- "$runsxs" --timeout 100 "$v" calls "$app" && known one all
        status=$?
        check "$v, calls:$mode: the recorded counts are those of the app: $(tail -n 1 "$tmp/said")" $status "$tmp/said"
    done
    set --
    for v in $versions; do set -- "$@" "$v" calls "$app hops=31"; done
    # shellcheck disable=SC2086
    run three calls:$mode $both -- "$runsxs" --timeout 100 --bridge "$@" && known three all
    status=$?
    check "three runtimes that call each other, calls:$mode: the recorded counts are those of the apps: $(tail -n 1 "$tmp/said")" $status "$tmp/said"
done
functions 'len({x["runtime"] for x in f if x["name"] == "Calls.Hop.Enter"}) == 3'
check "a function that three runtimes call has one row for each runtime" $? "$tmp/json"
functions 'all(x["total_ns"] >= x["self_ns"] for x in f) and any(x["self_ns"] for x in f)'
check "functions have times, and no self time is longer than the total time" $? "$tmp/json"

for mode in time tree; do
    # shellcheck disable=SC2086
    run many calls:$mode $both -- "$runsxs" --timeout 100 9 calls "threads=64 fib=18 throws=5 even=50 native=64" && known many all
    status=$?
    check "64 threads and 64 native threads, calls:$mode: the recorded counts are those of the app: $(tail -n 1 "$tmp/said")" $status "$tmp/said"
done

# ---- the shadow stack ---------------------------------------------------------------------------
for v in $versions; do
    good=0
    for seed in 11 12 13; do
        # shellcheck disable=SC2086
        run storm calls:backoff=off $both -- "$runsxs" --timeout 100 "$v" calls "storm=250 probes=1000 seed=$seed"
        grep -q 'calls: probes 1000 same 1000' "$tmp/log" && good=$((good + 1))
    done
    [ $good -eq 3 ]
    check "$v: the shadow stack is the runtime's stack at 1,000 random points of random calls, in $good of 3 runs" $? "$tmp/log"
done

# ---- which functions ----------------------------------------------------------------------------
run two calls --only '8/calls:Calls.Work.*' --only '10/calls:*.F?b' -- "$runsxs" --timeout 50 8 calls "fib=10 even=10" 10 calls "fib=10 even=10" &&
    report two && functions '{(x["version"][:2], x["name"]) for x in f} == {("8.", "Calls.Work.Fib"), ("8.", "Calls.Work.Even"),
        ("8.", "Calls.Work.Odd"), ("8.", "Calls.Work.FibCalls"), ("8.", "Calls.Work.Count"), ("10", "Calls.Work.Fib")}'
check "--only with a version and wildcards selects the matching functions" $? "$tmp/json"
run not calls --only 'calls:Calls.Work.*' --not '*:*.Fib' --not 'calls:*.FibCalls' -- "$runsxs" --timeout 50 9 calls "fib=10 even=10" &&
    report not && functions '{x["name"] for x in f} == {"Calls.Work.Even", "Calls.Work.Odd", "Calls.Work.Count"}'
check "--not excludes the matching functions" $? "$tmp/json"
run own calls -- "$runsxs" --timeout 50 9 calls "fib=10" && known own all &&
    functions 'not [x for x in f if "CoreLib" in x["assembly"]]'
check "without patterns, all functions of the program are counted and none of the framework" $? "$tmp/json"
run fw calls --only 'System.Private.CoreLib:System.String.Concat' -- "$runsxs" --timeout 50 9 calls "values=500" &&
    report fw && functions 'sum(x["calls"] for x in f if x["name"] == "System.String.Concat") >= 500 and len({x["name"] for x in f}) == 1'
check "a pattern that names a function of the framework selects this function" $? "$tmp/json"
"$sxsprof" run --quiet --only 'calls:*.Fib' -o "$tmp/alone" -- "$runsxs" --timeout 50 9 calls "fib=10" >"$tmp/log" 2>&1 &&
    report alone && functions '[(x["name"], x["calls"]) for x in f] == [("Calls.Work.Fib", 177)]'
check "--only starts the tool calls without --tool" $? "$tmp/json"
for wrong in calls ':x' 'calls:' '/calls:x' 'a;b:c'; do
    "$sxsprof" run --only "$wrong" -- touch "$tmp/started" >"$tmp/log" 2>&1
    [ $? -eq 2 ] && [ ! -e "$tmp/started" ]
    check "--only '$wrong' is refused before the program starts" $? "$tmp/log"
done
for wrong in calls:fast calls:backoff=1 calls:backoff=0/1 calls:inline=yes; do
    "$sxsprof" run --tool "$wrong" -- touch "$tmp/started" >"$tmp/log" 2>&1
    [ $? -eq 2 ] && [ ! -e "$tmp/started" ]
    check "--tool $wrong is refused before the program starts" $? "$tmp/log"
done

# ---- back-off -----------------------------------------------------------------------------------
run hot calls:backoff=1000/1000000 --only 'calls:*' -- "$runsxs" --timeout 100 9 calls "fib=27 throws=10" && known hot all &&
    "$sxsprof" report "$tmp/hot" >"$tmp/text" 2>&1 && grep -q 'timed no longer' "$tmp/text"
status=$?
check "the report names functions that are no longer timed, and their calls are still counted: $(tail -n 1 "$tmp/said")" $status "$tmp/text"
run cold calls:backoff=off --only 'calls:*' -- "$runsxs" --timeout 100 9 calls "fib=27" && known cold all &&
    "$sxsprof" report "$tmp/cold" >"$tmp/text" 2>&1 && ! grep -q 'timed no longer' "$tmp/text"
check "backoff=off: every function stays timed" $? "$tmp/text"

# ---- ends ---------------------------------------------------------------------------------------
rm -rf "$tmp/killed"
"$sxsprof" run --quiet --tool calls --only 'calls:*' -o "$tmp/killed" -- sh -c \
    "\"$runsxs\" 9 calls 'fib=20 throws=10 wait=60' & p=\$!
     n=0; until grep -q 'known.*Main' \"$tmp/log\" || [ \$n -ge 600 ]; do sleep 0.1; n=\$((n + 1)); done
     kill -9 \$p; wait" >"$tmp/log" 2>&1
known killed all
status=$?
check "after kill -9 the session has every count: $(tail -n 1 "$tmp/said")" $status "$tmp/said"
run uneven calls $both -- "$runsxs" --timeout 100 8 calls "fib=10" 9 calls "fib=24 threads=8 throws=50 rounds=3" 10 calls "fib=5" &&
    known uneven all
status=$?
check "runtimes that end while others run: the recorded counts are those of the apps: $(tail -n 1 "$tmp/said")" $status "$tmp/said"
finish
