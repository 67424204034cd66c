#!/bin/bash
# SPDX-License-Identifier: MIT
# json_schema.sh - compares the JSON documents of all verbs with the schemas in docs/formats, for sessions with known
# content. tests/integration/json_schema.sh has those of real runtimes.
cd "$(dirname "$0")/../.." || exit 1
. tests/command/common.inc
python3 -c 'import jsonschema' 2>/dev/null || { skip "json_schema" "python3-jsonschema is missing"; finish; }
for kind in samples calls events instrument guests heap costs; do
    $CC -std=gnu11 -D_GNU_SOURCE -g -O1 -I. tests/profile/make_$kind.c -o "$T/make_$kind" || exit 1
done
is "each document that is written has a schema, and each schema is of a document" "" "$(python3 -B tests/command/json_schema.py --lists 2>&1)"

mkdir "$T/json"
written=0
# valid CLAIM FORMAT FILE...: the files have documents of this format, and are as the schema says
valid() {
    local wrong
    wrong=$(python3 -B tests/command/json_schema.py "${@:3}" 2>&1)
    grep -q "\"format\": *\"sxsprof-$2\"" "$3" 2>/dev/null || wrong="$wrong the format is not $2: $(head -c 100 "$3" 2>&1)"
    is "$1" "" "$wrong"
}
# reported CLAIM OPTION...: a report with these options is valid
reported() {
    written=$((written + 1))
    "$SXS" report --format json -o "$T/json/$written" "${@:2}" 2>"$T/err"
    valid "$1" report "$T/json/$written"
}

"$T/make_samples" "$T/samples" known
"$T/make_samples" "$T/with_costs" costs
for mode in tree trace values hole count; do
    "$T/make_calls" "$T/calls_$mode" $mode >/dev/null 2>&1
    reported "report: calls, $mode" "$T/calls_$mode"
done
"$T/make_events" "$T/events" >/dev/null 2>&1
"$T/make_instrument" "$T/instrument" >/dev/null 2>&1
"$CENSUS" "$T/guests" 4242 runtime=1,8.0.29,1,1,1,1,1,1,1 runtime=2,9.0.18,1,1,1,1,1,1,1
"$T/make_guests" "$T/guests" >/dev/null 2>&1
"$T/make_heap" "$T/heap" 1 known
"$T/make_heap" "$T/heap" 2 grown
"$T/make_costs" "$T/costs" alntfwks
"$T/make_costs" "$T/biased" alb
for session in samples events instrument guests heap costs biased; do
    reported "report: $session" "$T/$session"
done
for data in samples alloc live native native-live locks lock-owners wait; do
    reported "report --data $data" --data $data "$T/costs"
done
reported "report --thread: parts are left out" --thread 101 "$T/with_costs"
mkdir -p "$T/one/4242"
for kind in instrument events calls_trace samples; do cp "$T/$kind"/4242/* "$T/one/4242/"; done
python3 -B tests/bench/ring.py "$T/one" "$T/ring" 3 || exit 1
reported "report of a ring" "$T/ring"
"$CENSUS" "$T/odd" 1 command="$(printf 'bad \xff\xc3\x28 \033[31mred\n caf\xc3\xa9')" unlisted=3 mask=2 runtime=1,8,1,1,1,1,1,1,18446744073709551615
reported "report: missing things, masks, and text of no encoding" "$T/odd"
keys=$(python3 - "$T"/json/* <<'PY'
import json, sys
top, written = json.load(open("docs/formats/report.schema.json")), set()
for path in sys.argv[1:]:
    written |= set(json.load(open(path)))
print(*sorted(set(top["properties"]) - written))
PY
)
is "the sessions above have every key of a report, but for those of traces and of processes that are too many" \
    "endpoints processes_left_out samples_without_trace_read traces traces_total" "$(tr ' ' '\n' <<<"$keys" | grep -v -x log | paste -sd' ')"

# --- the other verbs
"$SXS" heap --format json -o "$T/json/heap" "$T/heap" 2>"$T/err"
valid "heap" heap "$T/json/heap"
"$SXS" heap --format json --type '*' -o "$T/json/heap_type" "$T/heap" 2>"$T/err"
valid "heap --type" heap "$T/json/heap_type"
"$SXS" heap --format json --diff 1 -o "$T/json/heap_diff" "$T/heap" 2>"$T/err"
valid "heap --diff" heap-diff "$T/json/heap_diff"
for session in samples costs events calls_tree; do
    "$SXS" top --format json -n 1 "$T/$session" >"$T/json/top_$session" 2>"$T/err"
    valid "top: $session" top "$T/json/top_$session"
done
"$SXS" runtimes --format json >"$T/json/runtimes" 2>"$T/err"
valid "runtimes" runtimes "$T/json/runtimes"
"$SXS" ps --format json >"$T/json/ps" 2>"$T/err"
valid "ps" ps "$T/json/ps"

# --- serve
if command -v curl >/dev/null; then
    mkdir "$T/folder" && cp -r "$T/samples" "$T/heap" "$T/folder/" && "$SXS" pack -o "$T/folder/packed.sxsprof" "$T/samples" >/dev/null 2>&1
    "$SXS" serve "$T/folder" >"$T/served" 2>"$T/said" </dev/null &
    server=$!
    for _ in $(seq 600); do
        [ -s "$T/served" ] && break
        kill -0 "$server" 2>/dev/null || break
        sleep 0.05
    done
    url=$(sed 's/?.*//' "$T/served") token=$(sed 's/.*token=//' "$T/served")
    get() { curl -s -m 60 -o "$T/json/$1" -H "Authorization: Bearer $token" "$url$2"; }
    get sessions sessions
    valid "serve: the list of sessions" serve-sessions "$T/json/sessions"
    get data session/samples/data
    valid "serve: the data of a page" serve-data "$T/json/data"
    kill $server
    wait $server
else
    skip "serve" "curl is missing"
fi
finish
