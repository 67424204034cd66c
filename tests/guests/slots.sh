#!/bin/sh
# SPDX-License-Identifier: MIT
# slots.sh - checks that every method of the ICorProfilerInfo of a guest answers as directly in a runtime, and that
# IDs of another runtime are refused by every method. Prints which calls are not made.
. "$(dirname "$0")/../integration/lib.sh"
. tests/guests/common.inc
need_real 3

for version in 8.0 9.0 $net10; do
    rm -f "$tmp/direct" "$tmp/out"
    PROF_OUT=$tmp/direct directly slots $version >"$tmp/log" 2>&1
    check "the program with the profiler directly in runtime $version" $? "$tmp/log"
    PROF_OUT=$tmp/out as_guests "census slots" -- $version profiled "" >"$tmp/log" 2>&1
    check "the program with the guest on runtime $version" $? "$tmp/log"
    lines_of "$tmp/direct" slots $version >"$tmp/expected"
    lines_of "$tmp/out" slots $version | diff "$tmp/expected" - >"$tmp/diff"
    check "runtime $version: all methods answer as directly" $? "$tmp/diff"
    # Calls with all arguments NULL, and with valid ones; a method can be missing in an old runtime.
    n=$(grep '^slots [^ ]* thread ' "$tmp/expected" | sed 's/.* thread \([A-Za-z0-9]*\)(.*/\1/' | sort -u | wc -l)
    [ "$n" -ge 108 ] && grep -q '^slots [^ ]* ran 1 1$' "$tmp/expected"
    check "runtime $version: $n methods are called" $? "$tmp/expected"
    sed -n "s/.* left out: /# left out: /p" "$tmp/expected"
done

rm -f "$tmp/out"
SLOTS_FOREIGN=1 PROF_OUT=$tmp/out as_guests "slots census" -- \
    8.0 profiled "" 9.0 profiled "" $net10 profiled "" >"$tmp/log" 2>&1
check "the program with IDs of other runtimes" $? "$tmp/log"
grep ' foreign ' "$tmp/out" >"$tmp/wrong"
[ ! -s "$tmp/wrong" ] && [ "$(grep -c '^slots .* IDs of another runtime: [1-9]' "$tmp/out")" -eq 2 ]
check "every method refuses an ID of another runtime" $? "$tmp/out"
"$sxsprof" report --format json "$tmp/session" >"$tmp/report" 2>>"$tmp/log"
refused=$(sed -n 's/^slots .* IDs of another runtime: \([0-9]*\) calls, \1 refused$/\1/p' "$tmp/out" |
    awk '{ n += $1 } END { print n + 0 }')
counted=$(python3 -c 'import json, sys
print(sum(g["info_refused"] for g in json.load(open(sys.argv[1]))["guests"]))' "$tmp/report")
[ "$refused" -gt 100 ] && [ "$refused" -eq "$counted" ]
check "$refused refused calls are counted in the session: $counted" $? "$tmp/out"
grep -q "^census $net10 ExceptionThrown 10\$" "$tmp/out"
check "the other guest goes on" $? "$tmp/out"
finish
