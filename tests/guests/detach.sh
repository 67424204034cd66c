#!/bin/sh
# SPDX-License-Identifier: MIT
# detach.sh - checks that one guest can be detached under load while another one stays.
. "$(dirname "$0")/../integration/lib.sh"
. tests/guests/common.inc
need_real 3

PROF_OUT=$tmp/direct directly detacher $net10 rounds=400 >"$tmp/log" 2>&1
for what in immutable initialize; do
    DETACH=$what PROF_OUT=$tmp/direct.$what directly detacher $net10 rounds=10 >>"$tmp/log" 2>&1
done
grep -q 'detached: first 0x00000000, second 0x80131367' "$tmp/direct"
check "a runtime detaches the profiler, and refuses a second request" $? "$tmp/direct"

wrong=0
for i in $(seq 10); do
    : >"$tmp/out"
    PROF_OUT=$tmp/out as_guests "detacher census" -- 8.0 profiled rounds=20 9.0 profiled rounds=20 \
        $net10 profiled rounds=20 >"$tmp/log" 2>&1 || wrong=1
    for version in 8.0 9.0 10.0; do
        lines_of "$tmp/direct" detacher 10.0 | sed "s/$net10/$version/" >"$tmp/expected"
        lines_of "$tmp/out" detacher $version | sed "s/ ${version}[.0-9]*/ $version/" >"$tmp/got"
        diff "$tmp/expected" "$tmp/got" >>"$tmp/log" || wrong=1
        grep -q "^detacher $version.* released" "$tmp/out" || wrong=1
        grep -q "^census $version.* ExceptionThrown 200" "$tmp/out" || wrong=1
    done
    [ $wrong -eq 0 ] || break
done
check "ten times: a guest is detached from three runtimes under load, the other one misses nothing" $wrong "$tmp/log"

DETACH=immutable PROF_OUT=$tmp/immutable as_guests detacher -- $net10 profiled rounds=10 >"$tmp/log" 2>&1
lines_of "$tmp/direct.immutable" detacher 10 >"$tmp/expected"
lines_of "$tmp/immutable" detacher 10 | diff "$tmp/expected" - >>"$tmp/log"
check "a guest with immutable flags is refused as directly" $? "$tmp/log"
DETACH=initialize PROF_OUT=$tmp/initialize as_guests detacher -- $net10 profiled rounds=20 >"$tmp/log" 2>&1
grep 'in Initialize' "$tmp/direct.initialize" >"$tmp/expected"
grep 'in Initialize' "$tmp/initialize" | diff "$tmp/expected" - >>"$tmp/log"
check "a request in Initialize is refused as directly" $? "$tmp/log"
finish
