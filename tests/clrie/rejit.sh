#!/bin/bash
# SPDX-License-Identifier: MIT
# rejit.sh - a plug-in that requests methods for ReJIT and reverts them, several times, while the program calls them.
. "$(dirname "$0")/../integration/lib.sh"
. tests/clrie/common.inc
need_real 3
[ -e "$BUILD/managed/rewritten/rewritten.dll" ] || skip_all "$0" "the app rewritten is not built"
all=$versions
[ "$(echo "$all" | wc -l)" -ge 3 ]

steps='show r.rejit1.Value show r.revert1.Value show r.raw1.Value show r.rejit1.Value show r.revert1.Value show'
config rejitter
for versions in $all; do
    rewritten "$versions" "$steps"
    status=$?
    shows "runtime $versions alone: requests and reverts" Value '0 1 0 1 1 0'
done
versions=$all
rewritten "$versions" "$steps"
status=$?
shows "all at once: requests and reverts" Value '0 1 0 1 1 0'
shows "methods that nobody requested stay" Other '0 0 0 0 0 0'
n=$(echo "$all" | wc -l)
[ "$(said ': Value rejit=1: original 2 baseline 0 new 0 0')" = $((3 * n)) ]
check "each ReJIT begins with the original code" $? "$tmp/out"
[ "$(said 'complete Value rejit=1')" = $((3 * n)) ] && [ "$(said 'compiling Value rejit=1')" = $((3 * n)) ]
check "OnInstrumentationComplete and JitStarted are called for each" $? "$tmp/out"

REJITTER_FIRST=1 rewritten "$versions" show r.rejit1.Value show r.revert1.Value show
status=$?
shows "a method that was changed before its first compilation: a revert gives that code back" Value '1 1 1'

# ReJIT code is not inlined, so Outer calls Inner once its ReJIT is done.
for way in rejit inliners; do
    rewritten "$versions" show r.${way}1.Inner show r.revert1.Inner show r.${way}1.Inner show
    status=$?
    shows "$way: callers that a method was inlined into get its new code" Outer '0 1 0 1'
done
rewritten "$versions" show r.raw1.Inner show
status=$?
shows "RequestReJIT without inliners leaves them" Outer '0 0'
for name in Value Generic; do
    PLUG_EARLY=$name rewritten "$versions" show r.revert1.$name show r.rejit1.$name show
    status=$?
    shows "$name is requested in OnModuleLoaded, before it is compiled" $name '1 0 1'
done
[ "$(said ': Generic rejit=0')" = 0 ]
check "a method that is requested before its first compilation is asked for as ReJIT only" $? "$tmp/out"
rewritten "$versions" show r.rejit1.Generic show r.revert1.Generic show
status=$?
shows "a generic method, over a value type" Generic '0 1 0'
shows "and over a reference type" 'Generic [0-9]*' '0 1 0'

rewritten "$versions" r.nonsense1.Value show r.rejit1.Value show
status=$?
shows "requests of nonsense do no harm" Value '0 1'
[ "$(said 'of a method that nobody requested')" = "$n" ] && [ "$(said 'none 0x80070057')" = "$n" ]
check "they are answered" $? "$tmp/out"
shown='show show show show show show'
rewritten "$versions" show r.storm1.Value $shown r.calm1.Value show r.rejit1.Value show r.revert1.Value show
status=$?
for v in $versions; do
    case $(values Value "$v") in *" 1 0") ;; *) status=1 ;; esac
done
[ "$status" = 0 ] && [ "$(said 'storm failed')" = 0 ]
check "80 requests and reverts on a thread of the plug-in, while the methods run" $? "$tmp/std"
for what in wrong fails; do
    if [ $what = wrong ]; then export REJITTER_WRONG=1; else unset REJITTER_WRONG; export REJITTER_FAILS=1; fi
    rewritten "$versions" show r.rejit1.Value show
    status=$?
    shows "a ReJIT that $what leaves the method as it was" Value '0 0'
    [ "$(grep -c 'rejitter: Rewritten.Work.Value stays without its changes' "$tmp/err")" = "$n" ]
    check "and one line names the plug-in" $? "$tmp/err"
done
unset REJITTER_FAILS

# shellcheck disable=SC2086 # steps are words
under_dotnet "requests and reverts" Value '0 1 0 1 1 0' $steps
finish
