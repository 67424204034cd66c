#!/bin/sh
# SPDX-License-Identifier: MIT
# attach.sh - checks that guests are attached to a running CLR with the library (InitializeForAttach), and that one of
# them can be detached.
. "$(dirname "$0")/../integration/lib.sh"
. tests/guests/common.inc
need_real 3
clsid=$(sed -n 's/.*SXSPROF_CLSID "{\(.*\)}".*/\1/p' include/sxsprof.h)

runs() { pid=$(pgrep -P $timeout_pid -x runsxs) && grep -q 'profiled\.dll' "/proc/$pid/maps"; }
is_detached() { grep -q '^detacher .* released' "$tmp/out"; }
for version in 8.0 9.0 $net10; do
    rm -f "$tmp/until" "$tmp/out"
    SXSPROF_OUT=$tmp/session.$version PROF_OUT=$tmp/out SXSPROF_GUESTS=$(guest_list detacher threads old2) \
        timeout -k 5 200 "$runsxs" --timeout 180 "$version" profiled "until=$tmp/until" >"$tmp/log" 2>&1 &
    timeout_pid=$!
    pid=
    wait_until runs
    python3 tests/integration/attach.py "$pid" "$clsid" "$PWD/$BUILD/libsxsprof.so" >>"$tmp/log" 2>&1
    check "the library with its guests is attached to runtime $version" $? "$tmp/log"
    wait_until is_detached
    check "runtime $version: one guest detaches" $? "$tmp/log"
    : >"$tmp/until"
    wait $timeout_pid
    check "runtime $version: the program ends with status 0" $? "$tmp/log"
    grep -q '^detacher .* detached: first 0x00000000, second 0x80131367' "$tmp/out" &&
        grep -q '^threads .* named [1-9]' "$tmp/out" && ! grep -q '^old2 [0-9]' "$tmp/out"
    check "runtime $version: the other guest sees the program's threads" $? "$tmp/out"
    grep -q 'old2.so is off for runtime 1: it has no ICorProfilerCallback3: it cannot be attached' "$tmp/log"
    check "runtime $version: a guest without ICorProfilerCallback3 is not attached, and one line says so" $? "$tmp/log"
done
finish
