#!/bin/bash
# SPDX-License-Identifier: MIT
# report_extremes.sh - a stranger sends sessions of legal form that are costly: very many processes, threads, names
# and modules, deep trees, circles, long names, and counts whose sums do not fit. Each verb and format ends soon, with
# memory for what it shows. report_extremes.py writes them. With
# EXTREMES=all they are larger, there are more of them, and the test takes minutes.
# run: without sanitizers
. "$(dirname "$0")/lib.sh"
SECONDS_MAX=10 KIB_MAX=262144
# make_session KIND: write the session of this kind
make_session() { rm -rf "$tmp/session"; python3 tests/hostile/report_extremes.py "$1" "$tmp/session" || exit 1; }
# ends CLAIM ARGUMENT...: this command keeps within the limits, and succeeds or says what is wrong
ends() {
    local claim=$1
    shift
    cost "$sxsprof" "$@"
    at_most "$claim" $SECONDS_MAX $KIB_MAX
    [ "$status" -le 2 ]
    check "and it is not killed (status $status)" $? "$tmp/err"
    rm -f "$tmp/report"
}
# extremes KIND FORMAT...: write a session, and a report of it in each format
extremes() {
    local kind=$1 format
    shift
    make_session "$kind"
    for format; do
        case $format in
        heap-*) ends "heap --format ${format#heap-} of $kind" heap --format "${format#heap-}" -o "$tmp/report" "$tmp/session" ;;
        diff) ends "diff of $kind" diff -o "$tmp/report" "$tmp/session" "$tmp/session" ;;
        pack) ends "pack of $kind" pack -o "$tmp/report" "$tmp/session" ;;
        *) ends "report --format $format of $kind" report --format "$format" -o "$tmp/report" "$tmp/session" ;;
        esac
    done
}
# says CLAIM PATTERN: the last report, as text, has a line of this pattern
says() { "$sxsprof" report "$tmp/session" >"$tmp/out" 2>"$tmp/err"; grep -q -e "$2" "$tmp/out"; check "$1" $? "$tmp/out"; }

extremes processes text
says "the first line says how many processes are left out" '^60904 processes are left out: at most 4096 are read'
[ "$(head -1 "$tmp/out" | cut -d' ' -f1)" = 60904 ] && grep -q '60904 processes are left out' "$tmp/err"
check "and standard error says so" $? "$tmp/err"
make_session plain
"$sxsprof" report --format json "$tmp/session" >"$tmp/out" 2>"$tmp/err"
[ $? = 0 ] && [ ! -s "$tmp/err" ] && [ "$(grep -c '"threads_created": ' "$tmp/out")" = 300 ]
check "of 300 processes, all are shown" $? "$tmp/err"
extremes full-processes json
extremes threads text
extremes methods text
says "functions beyond the limit are one" 'functions beyond the limit of a report'
extremes long-names text
extremes modules text
extremes runtimes html
extremes tree collapsed
extremes types json text
extremes spans json
extremes throws json
extremes collections json
extremes instrumented json
extremes tiny text
extremes calls-cycles text json html collapsed speedscope pprof firefox pack
extremes calls-counts json html pprof
says "counts whose sum does not fit are the largest number" ' 18446744073709551615 calls of 2 functions'
extremes big-costs json html
says "counted objects whose sum does not fit are" 'in 4,611,686,018,427,387,904 objects'
extremes heap-cycle heap-json
extremes heap-list heap-html
if [ "${EXTREMES:-}" = all ]; then
    extremes sampled-processes text html
    extremes segments text json
    extremes tree text html diff
    extremes weights text json html
    extremes calls-threads text json html
    extremes traced text json
fi
finish
