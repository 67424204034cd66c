#!/bin/bash
# SPDX-License-Identifier: MIT
# table.sh - checks the table and the JSON that sxsprof report prints for whole sessions.
# run: without sanitizers
cd "$(dirname "$0")/../.." || exit 1
. tests/command/common.inc

"$CENSUS" "$T/one" 100 command="dotnet app.dll" \
    runtime=2,9.0.18,2,0,0,5,0,0,7 runtime=1,8.0.29,1,21,345,6,2,3,40,/r/8/libcoreclr.so \
    runtime=3,,3,0,0,0,0,0,0
try "$SXS" report "$T/one"
expected='runtime  version  state      modules  methods  threads  GCs  exceptions  signals
      1  8.0.29   picked          21      345        6    2           3       40
      2  9.0.18   guarded          0        0        5    0           0        7
      3  ?        cancelled        0        0        0    0           0        0'
is "the table of one process has no heading" "$expected" "$out"
is "a whole session: exit status 0, no message" "0:" "$status:$err"

try "$SXS" report --format json "$T/one"
is "the JSON has all keys and the expected values" ok "$(python3 - "$T/out" <<'PY'
import json, sys
rows = json.load(open(sys.argv[1]))["runtimes"]
keys = ["runtime", "version", "path", "state", "modules", "methods", "threads_created", "gcs", "exceptions_thrown",
        "signals", "pid", "command", "mask"]
assert [list(r) for r in rows] == [keys] * 3, rows
assert rows[0] == dict(runtime=1, version="8.0.29", path="/r/8/libcoreclr.so", state="picked",
                       modules=21, methods=345, threads_created=6, gcs=2, exceptions_thrown=3, signals=40,
                       pid=100, command="dotnet app.dll", mask="off"), rows[0]
assert [r["state"] for r in rows] == ["picked", "guarded", "cancelled"]
print("ok")
PY
)"
is "the top of the JSON has the format, its version, and one key" '["format", "version", "runtimes"]' \
    "$(python3 -c 'import json,sys; print(json.dumps(list(json.load(sys.stdin))))' <"$T/out")"

"$CENSUS" "$T/masked" 1 mask=2 runtime=1,8.0.29,1,1,1,1,1,1,1
"$CENSUS" "$T/masked" 2 mask=0 runtime=1,8.0.29,1,1,1,1,1,1,1
try "$SXS" report "$T/masked"
is "the first line says that values were masked, and in how many processes" \
    "values are masked: none was recorded, in 1 of 2 processes (SXSPROF_MASK)" "$(head -1 "$T/out")"

"$CENSUS" "$T/two" 300 started=10 command="/usr/bin/first --with arguments" runtime=1,8.0.29,1,1,1,1,1,1,1
"$CENSUS" "$T/two" 200 started=20 command="second" runtime=1,10.0.11,1,12345678,2,2,2,2,2
"$CENSUS" "$T/two" 200-2 pid=200 started=30 command="third" runtime=1,10.0.11,1,3,3,3,3,3,3
"$CENSUS" "$T/two" 400 started=40 command="no runtime yet"
try "$SXS" report "$T/two"
is "several processes: one heading each, sorted by start" "process 300: /usr/bin/first --with arguments
process 200: second
process 200: third" "$(grep ^process <<<"$out")"
is "columns are wide enough for all rows" 1 "$(grep -v ^process <<<"$out" | awk '{print length}' | sort -u | wc -l)"
COLUMNS=24 try "$SXS" report "$T/two"
has "a long command is cut to the width" "$out" "process 300: /usr/bin..."
is "rows are not cut" 3 "$(grep -c picked <<<"$out")"
try "$SXS" report --format=json "$T/two"
is "JSON rows are sorted by start" "300 200 200" \
    "$(python3 -c 'import json,sys; print(*[r["pid"] for r in json.load(sys.stdin)["runtimes"]])' <"$T/out")"

"$CENSUS" "$T/odd" 1 command="$(printf 'bad \xff\xc3\x28 \033[31mred\n caf\xc3\xa9')" unlisted=3 unwanted=4 \
    signals_off=1 runtime=1,8,1,1,1,1,1,1,18446744073709551615
"$CENSUS" "$T/odd" 2 started=1 runtime=1,9,1,1,1,1,1,1,1
try "$SXS" report "$T/odd"
is "runtimes without a row are in the first line" "process 1: 3 more runtimes counted but not listed" "$(head -n 1 "$T/out")"
has "notes follow the table of their process" "$out" "4 signals belonged to no runtime" "SXSPROF_SIGNALS=off"
has "text that is not UTF-8 or contains escape sequences is replaced" "$out" "red? café" "?[31m"
lacks "no escape character is printed" "$out" $'\033'
try "$SXS" report --format json "$T/odd"
is "the JSON of such text can be parsed" 0 "$(python3 -c 'import json,sys; json.load(sys.stdin)' <"$T/out"; echo $?)"

spec=()
for i in $(seq 64 -1 1); do spec+=("runtime=$i,8.0.$i,1,1,1,1,1,1,1"); done
"$CENSUS" "$T/many" 5 "${spec[@]}"
is "64 runtimes are listed by number" "$(seq 64)" \
    "$("$SXS" report "$T/many" | awk 'NR > 1 {print $1}')"
"$CENSUS" "$T/none" 5
try "$SXS" report --format json "$T/none"
is "a process without runtimes: an empty list" '{"format":"sxsprof-report","version":1,"runtimes":[]}' "$(tr -d ' \n' <"$T/out")"
try "$SXS" report --format json "$T/one" >/dev/full
try sh -c "'$SXS' report '$T/one' >/dev/full"
is "a full disk: status 1" 1 "$status"
finish
