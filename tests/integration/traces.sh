# SPDX-License-Identifier: MIT
# traces.sh - checks the traces of samples: each sample belongs to the request that its thread works for, in three
# runtimes of one process, while requests hop from thread to thread and collections move objects; and what reports make
# of it.
. "$(dirname "$0")/lib.sh"
need_real 3
[ -e "$BUILD/managed/traces/traces.dll" ] || skip_all "$0" "the app traces is not built"
right() { PYTHONPATH=tests/integration python3 tests/integration/traces.py "$@" >"$tmp/said" 2>&1; }
versions=$(echo "$versions" | head -n 3)
arguments=$(for v in $versions; do echo "$v traces 4"; done)

# shellcheck disable=SC2086 # a list of words
timeout -k 5 200 "$sxsprof" run --quiet --tool sample:cpu=499,activity=on -o "$tmp/s" -- \
    "$runsxs" --timeout 180 $arguments >"$tmp/out" 2>&1
check "three runtimes: the apps end as they do otherwise" $? "$tmp/out"
right "$tmp/s" "$tmp/out"
check "every sample has the trace, the span and the endpoint of its thread's request" $? "$tmp/said"

# ---- reports
id=$(awk '/^trace 1 9/ { print $4 }' "$tmp/out")
"$sxsprof" report --trace-id "$id" --format collapsed "$tmp/s" >"$tmp/one" 2>"$tmp/log"
check "report --trace shows a trace" $? "$tmp/log"
grep -q 'Traces.Program.Outer1' "$tmp/one" && grep -q 'Traces.Program.Inner1' "$tmp/one" &&
    ! grep -qE 'Program\.(Outer|Inner)[023]|Program\.None' "$tmp/one"
check "it has the samples of that request only" $? "$tmp/one"
"$sxsprof" report --trace-id "$id" --format html -o "$tmp/page.html" "$tmp/s" 2>"$tmp/log" &&
    grep -q "\"selection\":\[\[\"trace\",\"$id\"\]\]" "$tmp/page.html"
check "the page of a trace says which one it shows" $? "$tmp/log"
"$sxsprof" report --trace-id "00-$id-00f067aa0ba902b7-01" --format collapsed "$tmp/s" 2>"$tmp/log" | cmp -s - "$tmp/one"
check "a traceparent says the same" $? "$tmp/one"

"$sxsprof" report --endpoint '/two/{id}' --format collapsed "$tmp/s" >"$tmp/two" 2>"$tmp/log"
check "report --endpoint shows an endpoint" $? "$tmp/log"
grep -q 'Traces.Program.Outer2' "$tmp/two" && ! grep -qE 'Program\.(Outer|Inner)[013]|Program\.None' "$tmp/two"
check "it has the samples of that endpoint only" $? "$tmp/two"
"$sxsprof" report --endpoint '/two*' --format collapsed "$tmp/s" 2>"$tmp/log" | cmp -s - "$tmp/two"
check "a pattern says the same" $? "$tmp/two"

"$sxsprof" report --format json "$tmp/s" >"$tmp/json" 2>"$tmp/log"
python3 - "$tmp/json" "$tmp/one" "$id" >"$tmp/said" 2>&1 <<'P'
import json, sys
report, trace = json.load(open(sys.argv[1])), sys.argv[3]
row, = (t for t in report["traces"] if t["trace_id"] == trace)
assert row["endpoint"] == "GET /one" and row["version"].startswith("9."), row
weight = sum(int(line.rsplit(" ", 1)[1]) for line in open(sys.argv[2]))
assert weight in (row["samples"], row["cpu_ns"], row["cpu_ns"] // 1000), (weight, row)
names = {e["endpoint"] for e in report["endpoints"]}
assert {"GET /one", "/two/{id}", "request 0", "request 3"} <= names, names
assert 12 <= report["traces_total"] == len(report["traces"]), report["traces_total"]
P
check "the JSON report has all traces and endpoints" $? "$tmp/said"
"$sxsprof" report --top 99 "$tmp/s" >"$tmp/text" 2>&1 && grep -q '^endpoints by time' "$tmp/text" && grep -q "$id GET /one" "$tmp/text"
check "so has the text" $? "$tmp/text"

# ---- attached to while requests run
"$runsxs" --timeout 100 9 traces 10 >"$tmp/out" 2>&1 &
pid=$!
wait_until grep -qs libcoreclr "/proc/$pid/maps"
sleep 3
timeout -k 5 100 "$sxsprof" attach --tool sample:cpu=499,activity=on --duration 30s -o "$tmp/late" $pid >"$tmp/log" 2>&1
check "attach records until the process ends" $? "$tmp/log"
wait $pid
check "the app ends as it does otherwise" $? "$tmp/out"
right "$tmp/late" "$tmp/out" late
check "after an attach, no sample has a wrong trace" $? "$tmp/said"

# ---- what is refused
timeout -k 5 100 "$sxsprof" run --quiet --tool sample -o "$tmp/plain" -- "$runsxs" 9 traces 0.1 >"$tmp/out" 2>&1
"$sxsprof" report --trace-id "$id" "$tmp/plain" >"$tmp/log" 2>&1
[ $? -eq 2 ] && grep -q 'expected a session recorded with sxsprof sample --activity on' "$tmp/log"
check "a session without traces is refused" $? "$tmp/log"
"$sxsprof" report --trace-id 00000000000000000000000000000000 "$tmp/s" >"$tmp/log" 2>&1
[ $? -eq 2 ] && grep -q "no trace fits --trace-id '0*'; expected one that sxsprof report lists" "$tmp/log" && [ "$(wc -l <"$tmp/log")" = 1 ]
check "a trace that is not there is refused" $? "$tmp/log"
finish
