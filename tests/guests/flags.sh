#!/bin/sh
# SPDX-License-Identifier: MIT
# flags.sh - checks that a guest gets the answers to its event masks, and to its requests to be detached, that it would
# get without other guests, and that guests with conflicting flags each see their own mask.
. "$(dirname "$0")/../integration/lib.sh"
. tests/guests/common.inc
need_real 3
versions="8.0 9.0 $net10"

# answers FILE: what the profiler said of $version, except its end, which comes earlier or later when it is detached
answers() { lines_of "$1" flags $version | grep -v ' detached$\| at Shutdown: '; }

for version in $versions; do
    for what in none all combinations detaches rejit rewrites hooks1 hooks2 hooks3; do
        FLAGS=$what PROF_OUT=$tmp/$what.$version directly flags $version >"$tmp/log" 2>&1
        FLAGS=$what PROF_OUT=$tmp/out as_guests "census flags" -- $version profiled "" >"$tmp/log" 2>&1
        check "$what: the program with the guest on runtime $version" $? "$tmp/log"
        answers "$tmp/$what.$version" >"$tmp/expected"
        answers "$tmp/out" | diff "$tmp/expected" - >"$tmp/diff" && [ -s "$tmp/expected" ]
        check "$what: the same answers as directly in runtime $version" $? "$tmp/diff"
        rm -f "$tmp/out"
    done
    PROF_OUT=$tmp/old2.$version directly old2 $version >"$tmp/log" 2>&1
    PROF_OUT=$tmp/out as_guests "census old2" -- $version profiled "" >"$tmp/log" 2>&1
    grep ' detach 0x8' "$tmp/old2.$version" >"$tmp/expected"
    lines_of "$tmp/out" old2 $version | grep ' detach ' | diff "$tmp/expected" - >"$tmp/diff" && [ -s "$tmp/expected" ]
    check "a guest without ICorProfilerCallback3 is refused as directly in runtime $version" $? "$tmp/diff"
    rm -f "$tmp/out"
done
# What the masks above must contain, so that equal lines mean something.
grep -q 'late DISABLE_OPTIMIZATIONS 0x80004005' "$tmp/none.9.0" && grep -q 'late DISABLE_OPTIMIZATIONS 0x00000000' "$tmp/none.$net10" &&
    grep -q 'detach 0x80131370' "$tmp/rewrites.$net10"
check "runtimes refuse immutable flags after Initialize, and to detach a profiler that has written IL" $? "$tmp/rewrites.$net10"

# One guest has all flags in Initialize, the other one asks for them later; in both orders, on three runtimes at once.
cp "$(library_of flags)" "$tmp/liball.so"
cp "$(library_of flags)" "$tmp/libnone.so"
for order in "all none" "none all"; do
    list=
    for what in $order; do
        list="$list${list:+;}$(id_of flags)=$tmp/lib$what.so,env=FLAGS=$what,env=PROF_OUT=$tmp/out.$what"
        rm -f "$tmp/out.$what"
    done
    rm -rf "$tmp/session"
    SXSPROF_LOG=info SXSPROF_GUESTS=$list "$sxsprof" run -o "$tmp/session" -- "$runsxs" --timeout 120 \
        8.0 profiled "" 9.0 profiled "" $net10 profiled "" >"$tmp/log" 2>&1
    check "$order: the program with conflicting guests on three runtimes" $? "$tmp/log"
    for what in $order; do
        for version in $versions; do
            answers "$tmp/$what.$version" >"$tmp/expected"
            answers "$tmp/out.$what" | diff "$tmp/expected" - >"$tmp/diff"
            check "$order: guest '$what' sees what it sees directly in runtime $version" $? "$tmp/diff"
        done
    done
    for effect in 'nothing is inlined' 'precompiled code is not used' 'code is not optimized' 'one tier only' \
        'collections are not concurrent' 'allocations take the slow path' 'enter hooks take the slow path'; do
        [ "$(grep "guest liball.so .* changes it for all: .*$effect" "$tmp/log" | grep -o 'on runtime [123]' |
            sort -u | wc -l)" -eq 3 ]
        check "$order: the log says of each runtime: $effect" $? "$tmp/log"
    done
    grep -q '^guest liball.so: its hooks ask for arguments, results or frames: runtimes then do not keep' "$tmp/log" &&
        ! grep -q '^guest libnone.so: its hooks ask' "$tmp/log" &&
        "$sxsprof" report "$tmp/session" 2>&1 | grep -q '^ *its hooks ask for arguments, results or frames'
    check "$order: the end of the run and the report name the guest whose hooks harm vectors" $? "$tmp/log"
done
# Two classes of one library: the log tells them apart.
other='{00000000-1111-2222-3333-444444444444}'
SXSPROF_LOG=info SXSPROF_GUESTS="$(id_of flags)=$tmp/liball.so,env=FLAGS=none,env=PROF_OUT=$tmp/out.x;$other=$tmp/liball.so" \
    "$sxsprof" run -o "$tmp/two" -- "$runsxs" --timeout 120 9.0 profiled "" >"$tmp/log" 2>&1
grep -q "guest liball.so $other is off for runtime 1" "$tmp/log"
check "guests of one library have their classes in the log" $? "$tmp/log"
finish
