#!/bin/sh
# SPDX-License-Identifier: MIT
# all.sh - checks that sixteen different profilers run together in one process, on three runtimes, and that each prints
# what it prints directly in a runtime.
#
# Left out, because there are 16 guests at most, or because they are made to fail:
#   old1                   no runtime loads it directly (alone.sh)
#   elt2args, eltanswers   hooks: elt1, elt2, elt3 and elt3info are here (elt.sh has all)
#   rewrite_one            it is there, but finds its methods in the app of rewrite.sh only
#   rewrite_two, _off      the app's results depend on who else rewrites it (rewrite.sh)
#   slots, flags, holder   slots.sh, flags.sh, test_guest_info
#   wrong, crash           they break rules (wrong.sh, crash.sh)
# Not compared, because it depends on others by nature:
#   inline                 elt*.c ask for DISABLE_INLINING: the runtime asks nobody about inlining then
#   detacher               its end depends on time; only that no callback follows (detach.sh compares it)
#   gc, its first line     an EventPipe session for the runtime's provider, as compiled.c has it, makes a runtime collect
#                          a higher generation once (also without this library, by DOTNET_EventPipeConfig)
#   compiled               ENTERLEAVE makes the runtime compile precompiled code: its number of events; only that no
#                          event is repeated
. "$(dirname "$0")/../integration/lib.sh"
. tests/guests/common.inc
need_real 3
versions="8.0 9.0 $net10"
all="census gc objects threads inline old2 events pipes notify detacher compiled elt1 elt2 elt3 elt3info rewrite_one"
calls="fib=15 threads=4 even=101 throws=10 yields=5 steps=10 rounds=2"

# name_of NAME: what the lines of this profiler begin with
name_of() {
    case $1 in
        elt*) id_of "$1" | cut -c26- ;;
        *) echo "$1" ;;
    esac
}
# compare APP NAME...: the lines of each of these profilers on each runtime
compare() {
    local app=$1 name version
    shift
    for name; do
        for version in $versions; do
            lines_of "$tmp/$app.direct" "$(name_of "$name")" $version | grep -v ' induced collections ' >"$tmp/expected"
            lines_of "$tmp/$app" "$(name_of "$name")" $version | grep -v ' induced collections ' | diff "$tmp/expected" - >"$tmp/diff" && [ -s "$tmp/expected" ]
            check "$app: $name beside fifteen others, on runtime $version of three: the same lines as directly" $? "$tmp/diff"
        done
    done
}

for version in $versions; do
    for name in census gc objects threads old2 events pipes notify; do
        arguments=
        [ $name = gc ] && arguments=force=1
        PROF_OUT=$tmp/profiled.direct directly $name $version "$arguments" >"$tmp/log" 2>&1 ||
            not_ok "the program with $name directly in runtime $version" "$tmp/log"
    done
    for name in elt1 elt2 elt3 elt3info; do
        CORECLR_ENABLE_PROFILING=1 CORECLR_PROFILER=$(id_of $name) CORECLR_PROFILER_PATH=$(library_of $name) \
            PROF_OUT=$tmp/calls.direct "$runsxs" --timeout 120 $version calls "$calls" >"$tmp/log" 2>&1 ||
            not_ok "the app calls with $name directly in runtime $version" "$tmp/log"
    done
done

PROF_OUT=$tmp/profiled as_guests "$all" -- 8.0 profiled force=1 9.0 profiled force=1 $net10 profiled force=1 >"$tmp/log" 2>&1
check "the program with sixteen different profilers on three runtimes" $? "$tmp/log"
compare profiled census gc objects threads old2 events pipes notify
[ "$(grep -c '^compiled .* repeated 0$' "$tmp/profiled")" -eq 3 ]
check "profiled: no event about compiled code is repeated" $? "$tmp/profiled"
! grep -q '^detacher .* callbacks after that: [1-9]' "$tmp/profiled"
check "profiled: no callback follows a detach" $? "$tmp/profiled"

PROF_OUT=$tmp/calls as_guests "$all" -- 8.0 calls "$calls" 9.0 calls "$calls" $net10 calls "$calls" >"$tmp/log" 2>&1
check "the app calls with sixteen different profilers on three runtimes" $? "$tmp/log"
compare calls elt1 elt2 elt3 elt3info

n=$("$sxsprof" report --format json "$tmp/session" | python3 -c 'import json, sys
print(sum(g["state"] in ("active", "detached") for g in json.load(sys.stdin)["guests"]))')
[ "$n" -eq 48 ]
check "the session has 48 guests that were served: $n" $? "$tmp/log"
finish
