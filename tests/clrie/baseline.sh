#!/bin/bash
# SPDX-License-Identifier: MIT
# baseline.sh - a plug-in that replaces whole bodies with CreateBaseline, and then changes them.
. "$(dirname "$0")/../integration/lib.sh"
. tests/clrie/common.inc
need_real 3
[ -e "$BUILD/managed/rewritten/rewritten.dll" ] || skip_all "$0" "the app rewritten is not built"
all=$versions
n=$(echo "$all" | wc -l)

steps='show b.rejit1.Value show b.revert1.Value show b.rejit1.Value show'
config baseline
for versions in $all; do
    rewritten "$versions" "$steps"
    status=$?
    shows "runtime $versions alone: new bodies, ReJIT and reverts" Value '9 8 9 8'
done
versions=$all
rewritten "$versions" "$steps"
status=$?
shows "all at once: new bodies, ReJIT and reverts" Value '9 8 9 8'
shows "generic methods over value types have new bodies" Generic '9 9 9 9'
shows "and over reference types" 'Generic [0-9]*' '9 9 9 9'
shows "and methods that call others" Outer '9 9 9 9'
[ "$(said ': Value rejit=0 set before 0, CreateBaseline 0$')" = "$n" ] &&
    [ "$(said ': Value rejit=0 set 1 generation 2 of 7, was opcode 0x2, at 1 0x80004005$')" = "$n" ]
check "the new instructions are of generation 2, and the original ones can still be seen" $? "$tmp/out"
[ "$(said 'map of Value: 0:0 1:1 2:3 4:5 6:7 7:8 8:9$')" = $((3 * n)) ]
check "without sequence points the map has each instruction of the new body" $? "$tmp/out"
[ "$(said 'failed 0$')" = "$n" ]
check "no call has failed" $? "$tmp/out"

BASELINE_MAPS=1 rewritten "$versions" show b.rejit1.Other show
status=$?
shows "with a map and sequence points: new bodies and ReJIT" Other '9 8'
[ "$(said 'map of Other: 1:1 4:5$')" = $((2 * n)) ]
check "with sequence points the map has these" $? "$tmp/out"
[ "$(said 'at 1 opcode 0x2$')" = $((6 * n)) ]
check "GetInstructionAtUninstrumentedOffset finds an instruction by the map" $? "$tmp/out"

config baseline.a=10 baseline.b=20
rewritten "$versions" show
status=$?
shows "two plug-ins: the body of the first one stays" Value 9
[ "$(said '2: Value rejit=0 set before 1, CreateBaseline 0x8000ffff$')" = "$n" ] &&
    [ "$(said '2: Value rejit=0 set 1 generation 2 of 8,')" = "$n" ]
check "the second one gets E_UNEXPECTED, and changes that body" $? "$tmp/out"
BASELINE=Other rewritten "$versions" show
status=$?
shows "other methods keep their bodies" Value 0

config baseline
# shellcheck disable=SC2086 # steps are words
under_dotnet "new bodies, ReJIT and reverts" Value '9 8 9 8' $steps
finish
