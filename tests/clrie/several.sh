#!/bin/bash
# SPDX-License-Identifier: MIT
# several.sh - several plug-ins, rules of the tool instrument and a guest change the same method. Each plug-in and guest
# appends its digit to the result, and the rule adds 7 to the argument. So the results show whose changes are in force,
# in which order.
. "$(dirname "$0")/../integration/lib.sh"
. tests/clrie/common.inc
need_real 3
[ -e "$BUILD/managed/rewritten/rewritten.dll" ] || skip_all "$0" "the app rewritten is not built"
n=$(echo "$versions" | wc -l)
export REJITTER_FIRST

# ---- plug-ins with priorities --------------------------------------------------------------------------------------
three='rejitter.a=30 rejitter.b=20 rejitter.c=10' # their digits are 1, 2, 3
REJITTER_FIRST=123
config $three
rewritten "$versions" show r.rejit2.Value show r.revert2.Value show
status=$?
shows "three plug-ins in the order of their priorities, in the first compilation, ReJIT and after a revert" Value '321 321 321'
[ "$(said '3: Value rejit=0: original 2 baseline 0 new 0 0')" = "$n" ] &&
    [ "$(said '2: Value rejit=0: original 2 baseline 0 new 4 4')" = "$n" ] &&
    [ "$(said '1: Value rejit=0: original 2 baseline 0 new 8 8')" = "$n" ]
check "each one sees which instructions are original, and which are new" $? "$tmp/out"
[ "$(grep 'complete Value rejit=0' "$tmp/out" | sed "s/ complete.*//; s/.* //" | tr -d ':\n')" = "$(printf '321%.0s' $versions)" ]
check "OnInstrumentationComplete comes in the same order" $? "$tmp/out"
config rejitter.a=5 rejitter.b=5 rejitter.c=4
rewritten "$versions" show
status=$?
shows "plug-ins with the same priority come in the order of their loading" Value 312
REJITTER_FIRST=1
config $three
rewritten "$versions" show r.rejit3.Value show r.rejit2.Value show r.revert3.Value show
status=$?
shows "requests of two plug-ins beside one that always changes; a revert is one of the engine as a whole" Value '1 31 321 1'
REJITTER_FIRST=123 REJITTER_WRONG=2 rewritten "$versions" show
status=$?
shows "a plug-in that leaves a graph that no JIT accepts is left out alone" Value 31
[ "$(grep -c 'rejitter.b: Rewritten.Work.Value stays without its changes' "$tmp/err")" = "$n" ]
check "and named" $? "$tmp/err"
for wrong in 1 3; do
    REJITTER_FIRST=123 REJITTER_FAILS=$wrong rewritten "$versions" show r.rejit2.Value show
    status=$?
    shows "plug-in $wrong fails in InstrumentMethod: the others' changes stay" Value \
        "$(echo 321 | tr -d $wrong) $(echo 321 | tr -d $wrong)"
done
config baseline=10 rejitter=20
rewritten "$versions" show b.rejit1.Value show b.revert1.Value show
status=$?
shows "a new body, which another plug-in changes" Value '9 8 9'
REJITTER_FIRST=2 rewritten "$versions" show b.rejit1.Value show b.revert1.Value show
status=$?
shows "which another plug-in changes, in the first compilation, too" Value '92 82 92'
[ "$(said '2: Value rejit=0: original 0 baseline 7 new 1 1')" = "$n" ]
check "that one sees the body as baseline" $? "$tmp/out"

# ---- inlining --------------------------------------------------------------------------------------------------
config $three
REJITTER_FIRST=1
rewritten "$versions" show
status=$?
shows "a method that is inlined" Outer 1
[ "$(said 'compiling Inner')" = 0 ] && [ "$(said 'inline Inner 1')" = $((3 * n)) ]
check "is not compiled on its own, and all plug-ins are asked" $? "$tmp/out"
REJITTER_REFUSE=Inner rewritten "$versions" show
status=$?
shows "a method that a plug-in refuses to be inlined has its own changes" Outer 11
[ "$(said '1: Inner rejit=0')" = "$n" ] && [ "$(said 'inline Inner 0')" = "$n" ] && [ "$(said 'inline Inner 1')" = 0 ]
check "because it is compiled on its own; plug-ins after the one that refuses are not asked" $? "$tmp/out"

# ---- beside rules and a guest --------------------------------------------------------------------------------------
cat >"$tmp/rules.xml" <<'X'
<?xml version="1.0"?>
<instrumentation xmlns="urn:sxsprof:instrumentation:1">
<rule><match assembly="rewritten" type="Rewritten.Work" method="Value"/><inject at="entry">
ldarg.0
ldc.i4.s 7
add
starg.s 0
</inject></rule></instrumentation>
X
guest=$(sed -n 's/.*prof_clsid\[\] *= *"\(.*\)".*/\1/p' tests/guests/rewrite_two.c)
library=$(dirname "$clrie_lib")/guests/librewrite_two.so
tellable="$tellable two=$library" # appends the digit 2
config rejitter=10
plug=$methods
REJITTER_FIRST=1
methods="$plug --instrument $tmp/rules.xml"
rewritten "$versions" show
status=$?
shows "a plug-in and a rule: first compilation" Value 71
REJITTER_FIRST='' rewritten "$versions" show r.rejit1.Value show r.revert1.Value show
status=$?
shows "a plug-in's ReJIT and its revert keep the rule" Value '7 71 7'
PLUG_EARLY=Value REJITTER_FIRST='' rewritten "$versions" show r.revert1.Value show
status=$?
shows "likewise of a method that is requested before it is compiled" Value '71 7'
export PROF_OUT=$tmp/guest
methods="$plug --guest $guest=$library"
rewritten "$versions" two.set.Value show
status=$?
shows "a plug-in and a guest: first compilation; guests come before plug-ins" Value 21
REJITTER_FIRST='' rewritten "$versions" two.set.Value show r.rejit1.Value show r.revert1.Value show
status=$?
shows "a plug-in's ReJIT builds on what a guest has set" Value '2 21 2'
methods="$plug --guest $guest=$library --instrument $tmp/rules.xml"
rewritten "$versions" two.set.Value show
status=$?
shows "a plug-in, a guest and a rule" Value 721
REJITTER_FIRST='' rewritten "$versions" show r.rejit1.Value show two.rejit.Value show r.revert1.Value show two.revert.Value show
status=$?
shows "by ReJIT: requests and reverts of each" Value '7 71 721 72 7'
finish
