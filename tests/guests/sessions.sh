#!/bin/sh
# SPDX-License-Identifier: MIT
# sessions.sh - checks that a guest gets the events of its own EventPipe sessions only: not those of sessions of the
# library's tools, and that handles of sessions that are not its own do what they do directly in a runtime.
. "$(dirname "$0")/../integration/lib.sh"
. tests/guests/common.inc
need_real 3
# With tiers, methods are compiled while all sessions run.
export DOTNET_TieredCompilation=1

for version in 8.0 9.0 $net10; do
    for name in pipes compiled; do
        PROF_OUT=$tmp/$name.$version directly $name $version rounds=300 >"$tmp/log" 2>&1
        check "the program with $name directly in runtime $version" $? "$tmp/log"
        lines_of "$tmp/$name.$version" $name $version | sort >"$tmp/expected"
        for tool in sample events; do
            rm -f "$tmp/out"
            PROF_OUT=$tmp/out as_guests $name --tool=$tool -- $version profiled rounds=300 >"$tmp/log" 2>&1
            check "the program with $name as the only guest beside --tool $tool on runtime $version" $? "$tmp/log"
            lines_of "$tmp/out" $name $version | sort | diff "$tmp/expected" - >"$tmp/diff" && [ -s "$tmp/expected" ]
            check "$name beside --tool $tool on runtime $version: the same lines as directly" $? "$tmp/diff"
        done
    done
    # Two guests; the second one has the handle of the first one's session.
    PROF_OUT=$tmp/events.$version directly events $version rounds=300 >"$tmp/log" 2>&1
    rm -f "$tmp/out"
    PROF_SESSION=$tmp/handle.$version PROF_OUT=$tmp/out as_guests "events pipes" -- $version profiled rounds=300 >"$tmp/log" 2>&1
    check "the program with a guest that has another one's session on runtime $version" $? "$tmp/log"
    for name in events pipes; do
        lines_of "$tmp/$name.$version" $name $version | sort >"$tmp/expected"
        lines_of "$tmp/out" $name $version | sort | diff "$tmp/expected" - >"$tmp/diff" && [ -s "$tmp/handle.$version" ]
        check "runtime $version: $name is not affected" $? "$tmp/diff"
    done
done
finish
