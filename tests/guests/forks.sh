#!/bin/sh
# SPDX-License-Identifier: MIT
# forks.sh - checks that a host with several guests can fork without exec: children end, and the guests count in the
# parent what they count without forks.
. "$(dirname "$0")/../integration/lib.sh"
. tests/guests/common.inc
need_real 3
guests="census gc events threads"
versions="8.0 9.0 $net10"
work="rounds=100 force=1"
export PROF_FORCE_AFTER=700 # 7 collections a round

for version in $versions; do
    for name in $guests; do
        arguments=rounds=100
        [ $name = gc ] && arguments=$work
        PROF_OUT=$tmp/direct directly $name $version "$arguments" >>"$tmp/log" 2>&1 ||
            not_ok "the program with $name directly in runtime $version" "$tmp/log"
    done
done
PROF_OUT=$tmp/out as_guests "$guests" -- --churn forks=300 \
    8.0 profiled "$work" 9.0 profiled "$work" $net10 profiled "$work" >"$tmp/log" 2>&1
status=$?
check "a host with four guests on three runtimes forks, and no child hangs" $status "$tmp/log"
forks=$(grep -o 'forks=[0-9]*' "$tmp/log" | tail -n 1)
[ "${forks#forks=}" -gt 50 ]
check "children were made: $forks" $? "$tmp/log"
for version in $versions; do
    for name in $guests; do
        lines_of "$tmp/direct" $name $version >"$tmp/expected"
        lines_of "$tmp/out" $name $version | diff "$tmp/expected" - >"$tmp/diff" && [ -s "$tmp/expected" ]
        check "the parent's $name on runtime $version: the same lines as directly" $? "$tmp/diff"
    done
done
# A child that wrote or counted would add lines, or rows: the session has one row for each guest and runtime.
n=$("$sxsprof" report --format json "$tmp/session" | python3 -c 'import json, sys
print(len(json.load(sys.stdin)["guests"]))')
[ "$n" -eq 12 ]
check "the session has 12 rows of guests: $n" $? "$tmp/log"
finish
