#!/bin/bash
# SPDX-License-Identifier: MIT
# json_schema.sh - compares the JSON documents of all verbs with the schemas in docs/formats, on a real runtime: sessions of
# every tool, and a process that runs.
. "$(dirname "$0")/lib.sh"
need_real 1
python3 -c 'import jsonschema' 2>/dev/null || skip_all "$0" "python3-jsonschema is missing"
version=${VERSION:-$(echo "$versions" | tail -n 1)}
cat >"$tmp/rules.xml" <<'X'
<instrumentation xmlns="urn:sxsprof:instrumentation:1">
  <rule name="fib"><match assembly="instrumented" type="Instrumented.Work" method="Fib"/><trace arguments="*" label="fibonacci"/></rule>
</instrumentation>
X
# valid CLAIM FILE...: the documents are as their schemas say
valid() {
    python3 -B tests/command/json_schema.py "${@:2}" >"$tmp/differ" 2>&1
    check "$1" $? "$tmp/differ"
}
# recorded NAME "APP ARGUMENTS" ARGUMENT...: the JSON of a recording of this app, of its data alone, and of top
recorded() {
    local data
    # shellcheck disable=SC2086 # options of the app
    timeout -k 5 120 "$sxsprof" "${@:3}" --quiet -o "$tmp/$1" -- "$runsxs" --timeout 100 "$version" ${2%% *} "${2#* }" >"$tmp/log" 2>&1
    check "$1 is recorded" $? "$tmp/log"
    "$sxsprof" report --format json -o "$tmp/$1.json" "$tmp/$1" 2>"$tmp/log" && "$sxsprof" top --format json -n 1 "$tmp/$1" >"$tmp/$1.top" 2>>"$tmp/log"
    check "and can be reported" $? "$tmp/log"
    valid "$1: report and top are as the schemas say" "$tmp/$1.json" "$tmp/$1.top"
    for data in alloc live native native-live locks lock-owners wait; do
        "$sxsprof" report --format json --data $data -o "$tmp/$1.$data" "$tmp/$1" 2>/dev/null
    done
    valid "$1: report --data" "$tmp/$1".alloc "$tmp/$1".l* "$tmp/$1".native* "$tmp/$1".wait
}
recorded sampled "stress gcs=10 nre=20 loops=5 pool=10" record sample,exceptions,events,gc
recorded waits "stress gcs=5" wait
recorded calls "calls fib=12 threads=3 even=20 throws=8" calls
recorded memory "memory drop:small=300000" record alloc:interval=100k,live=on,native
recorded locks "contend rounds=2 waiters=3" locks
recorded methods "instrumented rounds=1 fib=12" instrument "$tmp/rules.xml"
timeout -k 5 120 "$sxsprof" record heap:at-exit --quiet -o "$tmp/heap" -- "$runsxs" --timeout 100 "$version" memory "keep:small=1000" >"$tmp/log" 2>&1
check "heap is recorded" $? "$tmp/log"
"$sxsprof" heap --format json -o "$tmp/heap.json" "$tmp/heap" >"$tmp/log" 2>&1 &&
    "$sxsprof" heap --format json --type 'System.String' -o "$tmp/heap.type" "$tmp/heap" >>"$tmp/log" 2>&1 &&
    "$sxsprof" heap --format json --diff "$tmp/heap" -o "$tmp/heap.diff" "$tmp/heap" >>"$tmp/log" 2>&1
check "and can be reported" $? "$tmp/log"
valid "heap, --type and --diff are as the schemas say" "$tmp/heap.json" "$tmp/heap.type" "$tmp/heap.diff"

# ---- a process that runs ----
"$sxsprof" sample --quiet -o "$tmp/running" -- "$runsxs" --timeout 100 "$version" shares "alpha=20 seconds=60" >"$tmp/log" 2>&1 &
run=$!
asked() {
    pid=$(ls "$tmp/running" 2>/dev/null | grep -m1 '^[0-9]*$') && "$sxsprof" status --format json "$pid" >"$tmp/status" 2>"$tmp/err" &&
        grep -q '"phase": "on"' "$tmp/status"
}
wait_until asked
check "a process that runs answers" $? "$tmp/err"
"$sxsprof" ps --format json >"$tmp/ps" 2>"$tmp/err"
"$sxsprof" runtimes --format json >"$tmp/runtimes" 2>>"$tmp/err"
valid "status, ps and runtimes are as the schemas say" "$tmp/status" "$tmp/ps" "$tmp/runtimes"
kill "$pid" 2>/dev/null
wait $run
finish
