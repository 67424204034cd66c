#!/bin/bash
# SPDX-License-Identifier: MIT
# fleet.sh - checks what sxsprof fleet refuses before it asks a server, and what it says without one.
# tests/integration/fleet.sh has the rest.
cd "$(dirname "$0")/../.." || exit 1
. tests/command/common.inc

# refused CLAIM "PART|PART" ARGUMENT...: status 2 and a message with these parts. Nothing listens at the address.
refused() {
    local claim=$1 parts
    IFS='|' read -ra parts <<<"$2"
    shift 2
    try "$SXS" fleet "$@"
    is "$claim: exit status 2" 2 "$status"
    has "$claim: the message says what was expected" "$err" "${parts[@]}"
    is "$claim: prints nothing on stdout" "" "$out"
}
server=(--server clickhouse://127.0.0.1:1/db)

refused "no command" "init, expire, flame, top, diff or series is expected" "${server[@]}"
refused "an unknown command" "'flam'|expected init, expire, flame, top, diff or series" flam "${server[@]}"
refused "two commands" "'top' is one argument more" flame top "${server[@]}"
refused "no server" "--server URL|SXSPROF_FLEET" top
refused "a wrong address" "'ftp://h'|expected clickhouse://" top --server ftp://h
refused "an address with a database that is none" "expected clickhouse://" top --server "clickhouse://h/a;b"
refused "a password in the address" "SXSPROF_FLEET_PASSWORD" top --server clickhouse://u:secret@h/db
lacks "a password in the address: is not repeated" "$err" secret
refused "a wrong address of init" "'h'|expected clickhouse://" init --server h
refused "a wrong --from" "--from: 'soon'|expected a time such as" top "${server[@]}" --from soon
refused "a wrong --to" "--to: '2001-02-30'|expected a time such as" top "${server[@]}" --to 2001-02-30
refused "--where without a pattern" "--where: 'version'|expected KEY=PATTERN" top "${server[@]}" --where version
refused "a wrong time in --a" "--a: from: 'x'|expected a time" diff "${server[@]}" --a from=x --b to=now
refused "diff without --b" "--a and --b are expected" diff "${server[@]}" --a version=1
refused "--a of top" "options of fleet diff" top "${server[@]}" --a version=1
refused "a wrong --data" "--data: 'gpu'|expected cpu, wall, alloc, native, locks, live, native-live or wait" top "${server[@]}" --data gpu
refused "a wrong --step" "--step: '0m'|expected a duration" series "${server[@]}" --step 0m
refused "--step of top" "option of fleet series" top "${server[@]}" --step 1m
refused "--by function" "--by: 'function'|expected service, version" series "${server[@]}" --by function
refused "text of flame" "--format: 'text'|expected html, collapsed, speedscope or pprof" flame "${server[@]}" --format text
refused "html of top" "--format: 'html'|expected text or json" top "${server[@]}" --format html
refused "live objects by runtime, side by side" "--by: 'runtime'|processes are compared" diff "${server[@]}" --data live --a a=1 --b a=2 --by runtime
refused "html of diff --by" "--format: 'html'|expected text or json" diff "${server[@]}" --a a=1 --b a=2 --by version --format html
refused "--limit 0" "--limit" flame "${server[@]}" --limit 0
refused "--keep-days of letters" "--keep-days" init "${server[@]}" --keep-days x
refused "a period that ends before it begins" "--to: expected a time after that of --from" top "${server[@]}" --from now --to "1h ago"
refused "the same of one side of a diff" "--to: expected a time after that of --from" diff "${server[@]}" --a "from=now,to=1h ago" --b version=1
refused "--open without -o" "--open: expected --format html and -o FILE" flame "${server[@]}" --open
refused "a file of certificates that is not there" "/nowhere/ca" top "${server[@]}" --ca /nowhere/ca

for command in init expire top flame series; do
    try "$SXS" fleet "$command" "${server[@]}"
    is "$command without a server: exit status 1" 1 "$status"
    has "$command without a server: the message has the address" "$err" "http://127.0.0.1:1"
done
try "$SXS" fleet flame "${server[@]}" -o "$T/page.html"
[ ! -e "$T/page.html" ] && ok "without an answer, no page is written" || not_ok "without an answer, no page is written"
finish
