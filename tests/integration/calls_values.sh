# SPDX-License-Identifier: MIT
# calls_values.sh - checks the recorded arguments and results of calls on real runtimes.
# The text of each value must be the text that the app prints, and counts and shadow stacks must be the same
# as without values.
. "$(dirname "$0")/lib.sh"
need_real 3
[ -e "$BUILD/managed/calls/calls.dll" ] || skip_all "$0" "the app calls is not built"
here=tests/integration
only="--values calls:Calls.Values.* --values calls:Calls.Values+* --not *:*..ctor --not *:*.set_* --not *:*.get_*"
set -f

run() { # FOLDER [OPTION OF sxsprof]... -- COMMAND...
    rm -rf "${tmp:?}/$1"
    out=$1
    shift
    timeout -k 5 120 "$sxsprof" run --quiet -o "$tmp/$out" "$@" >"$tmp/log" 2>&1
}
report() { "$sxsprof" report --format json --single 1000000 "$tmp/$1" >"$tmp/json" 2>>"$tmp/log"; }
shown() { report "$1" && python3 $here/calls_values.py "$tmp/json" "$tmp/log" >"$tmp/said" 2>&1; }

# ---- recorded values are those of the app -------------------------------------------------------
for v in $versions; do
    # shellcheck disable=SC2086
    run once $only -- "$runsxs" --timeout 100 "$v" calls "shown=1" && shown once
    status=$?
    check "$v: values of every kind are those of the app: $(tail -n 1 "$tmp/said")" $status "$tmp/said"
    # shellcheck disable=SC2086
    run often $only -- "$runsxs" --timeout 100 "$v" calls "shown=100" && shown often
    status=$?
    check "$v: values in every tier of code are those of the app: $(tail -n 1 "$tmp/said")" $status "$tmp/said"
done
set --
for v in $versions; do set -- "$@" "$v" calls "hops=21 shown=1"; done
run three --values 'calls:*' -- "$runsxs" --timeout 100 --bridge "$@" && report three
python3 -c '
import json, sys
v = json.load(open(sys.argv[1]))["values"]
add = [x for x in v if x["name"] == "Calls.Values.Add"]
assert len(add) == 3 == len({x["runtime"] for x in add}), add
assert all((x["arguments"], x["result"]) == ("a = 1, b = -2", "-1") for x in add), add
hops = [x for x in v if x["name"] == "Calls.Hop.Arrive" and x["arguments"]]
assert len(hops) == 21 and len({x["runtime"] for x in hops}) == 3, len(hops)' "$tmp/json" >"$tmp/said" 2>&1
check "three runtimes that call each other: the values of each are recorded" $? "$tmp/said"

# ---- reports ------------------------------------------------------------------------------------
"$sxsprof" report --single 10 "$tmp/once" >"$tmp/text" 2>&1 &&
    grep -q 'single calls of process.*the first 10 of [0-9]*$' "$tmp/text" &&
    grep -q 'Calls.Values.Add(a = 1, b = -2) = -1 <' "$tmp/text" && [ "$(grep -c 'Calls.Values.*(.*<.*s>$' "$tmp/text")" -eq 10 ]
check "the text report has a list of traced calls, as long as --single says" $? "$tmp/text"
"$sxsprof" report --format chrome "$tmp/once" >"$tmp/chrome" 2>>"$tmp/log" && python3 -c '
import json, sys
e = [x for x in json.load(open(sys.argv[1]))["traceEvents"] if "Values.Add(" in x.get("name", "")]
assert [x.get("args") for x in e] == [{"arguments": "a = 1, b = -2"}, {"result": "-1"}], e' "$tmp/chrome" >"$tmp/said" 2>&1
check "the trace has arguments and results in its events" $? "$tmp/said"
"$sxsprof" report --format html -o "$tmp/html" "$tmp/once" >>"$tmp/log" 2>&1 && grep -q '^"a = 1, b = -2",$' "$tmp/html"
check "the page has arguments" $? "$tmp/log"

# ---- counts and shadow stacks are the same with values ------------------------------------------
# Methods that native code calls directly are not hooked, so their counts are not compared.
app="fib=12 threads=4 even=101 throws=10 yields=20 steps=10 generic=40 rounds=2 storm=20 values=500 kinds=300"
for v in $versions; do
    run storm --tool calls:trace=512,backoff=off --only 'tail:*' --values 'calls:*' -- \
        "$runsxs" --timeout 100 "$v" calls "storm=250 probes=1000 seed=11"
    grep -q 'calls: probes 1000 same 1000' "$tmp/log"
    check "$v: the shadow stack is the runtime's stack at 1,000 random points of random calls" $? "$tmp/log"
    run all --tool calls:trace=1,backoff=off --values 'calls:*' -- "$runsxs" --timeout 100 "$v" calls "$app native=5" &&
        report all && sed -i '/Shapes.FromNative\|Program.OnNativeThread/d' "$tmp/log" &&
        python3 $here/calls_expected.py "$tmp/json" "$tmp/log" all >"$tmp/said" 2>&1
    status=$?
    check "$v: the recorded counts are those of the app, also when the trace has no room: $(tail -n 1 "$tmp/said")" $status "$tmp/said"
    run gc --tool calls:trace=64 --values 'stress:*' --values 'System.Private.CoreLib:System.Text.StringBuilder.*' -- \
        "$runsxs" --timeout 100 "$v" stress ""
    check "$v: a program with collections and faults runs under hooks that read values" $? "$tmp/log"
done

# ---- every function of the program and the framework --------------------------------------------
for v in $versions; do
    run every --tool calls:trace=256 --values '*:*' -- "$runsxs" --timeout 100 "$v" calls "storm=20 throws=5 values=200 shown=2 yields=5 threads=4" &&
        report every && python3 -c '
import json, sys
v = json.load(open(sys.argv[1]))["values"]
text = "".join((x["arguments"] or "") + (x["result"] or "") for x in v)
print(len(v), "calls,", text.count("<?: "), "values not shown")
assert len(v) > 10000 and "type not known" not in text and "type parameter" not in text
assert text.count("<?: unreadable>") < 100' "$tmp/json" >"$tmp/said" 2>&1
    status=$?
    check "$v: values of the whole framework are recorded: $(tail -n 1 "$tmp/said")" $status "$tmp/said"
done

# ---- settings -----------------------------------------------------------------------------------
for wrong in calls 'calls:' 'a;b:c'; do
    "$sxsprof" run --values "$wrong" -- touch "$tmp/started" >"$tmp/log" 2>&1
    [ $? -eq 2 ] && [ ! -e "$tmp/started" ] && grep -q -- '--values' "$tmp/log"
    check "--values '$wrong' is refused before the program starts" $? "$tmp/log"
done
run count --tool calls:count --values 'calls:*.Add' -- "$runsxs" --timeout 50 9 calls "shown=1" && report count &&
    grep -q 'calls:trace is used' "$tmp/log" && grep -q '"arguments": "a = 1, b = -2"' "$tmp/json"
check "--values with calls:count records traced calls, and a message says so" $? "$tmp/log"
finish
