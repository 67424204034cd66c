# SPDX-License-Identifier: MIT
# trace_values.sh - compares arguments, results and exceptions of traced calls with the app's own texts.
. "$(dirname "$0")/lib.sh"
need_real 3
[ -e "$BUILD/managed/calls/calls.dll" ] && [ -e "$BUILD/managed/instrumented/instrumented.dll" ] ||
    skip_all "$0" "the apps calls and instrumented are not built"
here=tests/integration
single="--single 1000000" # report all calls

file() { # NAME: write the rules on standard input to NAME.xml
    {
        echo '<?xml version="1.0"?><instrumentation xmlns="urn:sxsprof:instrumentation:1">'
        cat
        echo '</instrumentation>'
    } >"$tmp/$1.xml"
}
run() { # RULES ARGUMENTS...: run runsxs with ARGUMENTS, instrumented by RULES.xml
    rules=$1
    shift
    rm -rf "${tmp:?}/s"
    SXSPROF_INSTRUMENT=$tmp/$rules.xml timeout -k 5 150 "$sxsprof" run --quiet -o "$tmp/s" -- "$runsxs" --timeout 120 "$@" \
        >"$tmp/log" 2>&1 && "$sxsprof" report --format json $single "$tmp/s" >"$tmp/json" 2>>"$tmp/log"
}
three() { # RULES APP OPTIONS: run APP in three runtimes at once
    rules=$1 app=$2 options=$3
    set --
    for v in $versions; do set -- "$@" "$v" "$app" "$options"; done
    run "$rules" "$@"
}
shown() { python3 $here/calls_values.py "$tmp/json" "$tmp/log" "$@" >"$tmp/said" 2>&1; }

# ---- values of every kind -----------------------------------------------------------------------
file values <<'E'
<rule><match assembly="calls" type="Calls.Values" method="*"/><trace arguments="*"/></rule>
<rule>
  <match assembly="calls" type="Calls.Values+Pair" method="Sum"/>
  <match assembly="calls" type="Calls.Values+Deep`1" method="Inside"/>
  <match assembly="calls" type="Calls.Values+Thing" method="Get"/>
  <match assembly="calls" type="Calls.Values+Thing" method="Name"/>
  <match assembly="calls" type="Calls.Values+Derived`1" method="Name"/>
  <match assembly="calls" type="Calls.Values+Derived`1" method="Echo"/>
  <trace arguments="this *"/>
</rule>
E
for v in $versions; do
    run values "$v" calls "shown=60" && shown
    status=$?
    check "$v: values of every kind are recorded as the app prints them, in every tier: $(tail -n 1 "$tmp/said")" $status "$tmp/said"
done
three values calls "shown=1" && shown any
status=$?
check "values are recorded as the app prints them in three runtimes at once: $(tail -n 1 "$tmp/said")" $status "$tmp/said"
python3 -c '
import json, sys
v = json.load(open(sys.argv[1]))["values"]
of = lambda name: [x for x in v if x["name"] == "Calls.Values." + name]
refs, threw = of("ByRef"), of("Throws")
assert len(refs) == len(threw) == 3
assert all(x["after"] == "a = 2, c = \"x\"" for x in refs), refs
assert all(x["exception"] == "System.InvalidOperationException: \"thrown\"" for x in threw), threw
assert sorted(x["depth"] for x in of("Recursive")) == [0] * 3 + [1] * 3 + [2] * 3' "$tmp/json" >"$tmp/said" 2>&1
check "by-reference arguments after the call, exceptions, and the depth of recursive calls are recorded" $? "$tmp/said"
"$sxsprof" report --single 1000 "$tmp/s" >"$tmp/text" 2>&1 &&
    grep -q 'single calls of process' "$tmp/text" && grep -q 'Calls.Values.Add(a = 1, b = -2) = -1 <' "$tmp/text" &&
    grep -q 'Values.ByRef(a = 1, b = 20, c = <out>) = 2, then a = 2, c = "x" <' "$tmp/text" &&
    grep -q 'Values.Throws(n = 3) left by an exception, System.InvalidOperationException: "thrown" <' "$tmp/text"
check "the text report has a log of single calls" $? "$tmp/text"

# ---- under load ---------------------------------------------------------------------------------
file told <<'E'
<rule><match assembly="instrumented" type="Instrumented.Work" method="Told"/><trace arguments="*" label="told"/></rule>
E
three told instrumented "rounds=1 told=300" && python3 $here/trace_values.py "$tmp/json" 300 3 >"$tmp/said" 2>&1
status=$?
check "values are right on 16 allocating threads in each of three runtimes during collections: $(tail -n 1 "$tmp/said")" $status "$tmp/said"
"$sxsprof" report "$tmp/s" >"$tmp/text" 2>&1 && grep -q '\] told (' "$tmp/text" && grep -q ' told(n = ' "$tmp/text"
check "the text report names the method by its label" $? "$tmp/text"

# ---- methods traced by an edit ------------------------------------------------------------------
file edited </dev/null
: >"$tmp/log"
started() { [ "$(grep -c '^instrumented: runtime' "$tmp/log")" -eq 3 ]; }
recorded() { # succeed when calls of both methods are recorded in each of the three runtimes
    "$sxsprof" report --format json $single "$tmp/s" >"$tmp/live" 2>/dev/null && python3 -c '
import json, sys
v = json.load(open(sys.argv[1])).get("values", [])
sys.exit(any({x["runtime"] for x in v if x["name"].endswith(n)} != {1, 2, 3} for n in ("Work.Text", ".ToString")))' "$tmp/live" 2>/dev/null
}
(
    wait_until started
    file new <<'E'
<rule><match assembly="instrumented" type="Instrumented.Work" method="Text"/><trace/></rule>
<rule><match assembly="System.Private.CoreLib" type="System.Int32" method="ToString" parameters="void"/><trace arguments="this"/></rule>
E
    mv "$tmp/new.xml" "$tmp/edited.xml"
    wait_until recorded
    : >"$tmp/edited.xml.end"
) &
three edited instrumented "rounds=5 watch=110000" && python3 -c '
import json, sys
v = json.load(open(sys.argv[1]))["values"]
texts = [x for x in v if x["name"].endswith("Work.Text")]
print(len(texts), "calls")
assert {x["runtime"] for x in texts} == {1, 2, 3} and all(x["result"] == "\"original\"" for x in texts), texts[:2]
assert not any("<?:" in str(x) for x in v)' "$tmp/json" >"$tmp/said" 2>&1
status=$?
check "methods traced by an edit: values of types that were loaded before the edit are recorded: $(head -n 1 "$tmp/said")" $status "$tmp/said"
wait

# ---- more calls than the file has room for ------------------------------------------------------
file storm <<'E'
<rule><match assembly="instrumented" type="Instrumented.Work" method="Fib"/><trace arguments="*"/></rule>
<rule><match assembly="instrumented" type="Instrumented.Work" method="Static"/><count/></rule>
E
single=
SXSPROF_TOOLS=instrument:traced=1,rate=0 three storm instrumented "rounds=50 fib=27" && python3 -c '
import json, sys
top = json.load(open(sys.argv[1]))
methods = top["instrument"]
fib = [s for s in methods if s["name"].endswith(".Fib")]
static = [s for s in methods if s["name"].endswith(".Static")]
known = 30 * 1973 + 635621 # calls of Fib(15), 30 times, and of Fib(27)
print([(s["calls"], s["calls_traced"]) for s in fib], top["traced_lost"])
assert len(fib) == len(static) == 3
assert all(s["calls"] == s["calls_ended"] == known and s["state"] == "active" for s in fib)
assert all(s["calls"] == 50 for s in static)
# A begin record has 40 bytes, an end record 48.
room, kept = 4 * (256 * 1024 - 16), 6 * known - top["traced_lost"]
assert room // 48 - 8 <= kept <= room // 40, kept
assert kept // 2 <= sum(s["calls_traced"] for s in fib) == top["traced_calls"] <= kept
assert len(top["values"]) == 5000' "$tmp/json" >"$tmp/said" 2>&1
status=$?
check "more calls than the file has room for: every count is exact, and lost records are counted: $(head -n 1 "$tmp/said")" $status "$tmp/said"
"$sxsprof" report "$tmp/s" 2>&1 | grep -q '^traced calls: [0-9]* records found no room'
check "the text report has the number of lost records" $? "$tmp/said"

# ---- more calls than are traced by default ------------------------------------------------------
three storm instrumented "rounds=50 fib=27" && python3 -c '
import json, sys
top = json.load(open(sys.argv[1]))
fib = [s for s in top["instrument"] if s["name"].endswith(".Fib")]
known = 30 * 1973 + 635621
print([(s["calls"], s["calls_traced"]) for s in fib], top["traced_left_out"], top["traced_lost"])
assert all(s["calls"] == s["calls_ended"] == known for s in fib)
assert top["traced_lost"] == 0 and top["traced_calls"] >= 100000
assert top["traced_calls"] + top["traced_left_out"] == 3 * known, top["traced_calls"]
assert top["traced_calls"] < known' "$tmp/json" >"$tmp/said" 2>&1
status=$?
check "by default, calls above a rate are left out, and their number is exact: $(head -n 1 "$tmp/said")" $status "$tmp/said"
"$sxsprof" report "$tmp/s" 2>&1 | head -n 8 | grep -q '^traced calls: [0-9]* calls left out, because more than 10000 a second were made (--trace-rate)' &&
    [ "$(du -sm "$tmp/s" | cut -f1)" -lt 100 ]
check "the first lines of the report say so, and the session is small" $? "$tmp/said"
"$sxsprof" instrument "$tmp/storm.xml" -o "$tmp/named" -- "$runsxs" 9 instrumented "rounds=1 fib=3" >"$tmp/said" 2>&1
grep -q '^sxsprof: of each process 100000 calls, then 10000 calls a second are traced (--trace-rate), in at most 256.00 MiB (--trace-size)' "$tmp/said"
check "the command names the limits at the start" $? "$tmp/said"

# ---- values that cannot be captured or passed ---------------------------------------------------
file wrong <<'E'
<rule><match assembly="instrumented" type="Instrumented.Work" method="Static"/><trace arguments="this"/></rule>
<rule><match assembly="instrumented" type="Instrumented.Work" method="Loop"/><trace arguments="nothing"/></rule>
<rule><match assembly="instrumented" type="Instrumented.Work" method="Small"/><trace arguments="7"/></rule>
<rule><match assembly="instrumented" type="Instrumented.Work" method="Told"/><call when="before" library="libc.so.6" symbol="abs" arguments="pair"/></rule>
E
three wrong instrumented "rounds=20 told=2" && python3 -c '
import json, sys
s = json.load(open(sys.argv[1]))["instrument"]
reasons = sorted(x["reason"] for x in s if x["state"] == "failed")
print(reasons)
assert len(reasons) == 12
assert all(sum(part in r for r in reasons) == 3 for part in
           ("there is no this", "no argument \"nothing\"", "no argument 7", "pair, a value type, cannot be handed to native code"))' "$tmp/json" >"$tmp/said" 2>&1
check "values that cannot be captured or passed to native code: the program runs unchanged, and the state has the reason" $? "$tmp/said"
finish
