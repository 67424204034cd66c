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

# The plug-in changes the first compilation, too. So the base of a ReJIT without it contains its change (1), and the base
# of a ReJIT with it does not.
rewritten "$versions" show r.rejit1.Value show r.rejit1.Value show two.rejit.Value show r.rejit1.Value show \
    two.rejit.Value show r.revert1.Value show r.rejit1.Value show two.revert.Value show r.revert1.Value show
status=$?
shows "a plug-in in the first compilation and by ReJIT, a guest by ReJIT, a rule: each is there once" Value \
    '71 71 71 721 721 721 712 721 71 71'
rewritten "$versions" show two.rejit.Value show r.rejit1.Value show two.revert.Value show two.rejit.Value show \
    r.revert1.Value show two.revert.Value show
status=$?
shows "likewise when the guest is the first" Value '71 712 721 71 721 712 71'
rewritten "$versions" two.set.Value show r.rejit1.Value show r.rejit1.Value show r.revert1.Value show
status=$?
shows "what a guest has set in the first compilation stays" Value '721 721 721 721'
rewritten "$versions" two.set.Value show r.rejit1.Value show two.rejit.Value show r.revert1.Value show two.revert.Value show
status=$?
shows "a guest that changes it again finds there what it has set, as when it is alone; the plug-in does not" Value \
    '721 721 7221 7212 721'
PLUG_EARLY=Value rewritten "$versions" show two.rejit.Value show r.revert1.Value show r.rejit1.Value show
status=$?
shows "a plug-in that has requested the method before it is compiled" Value '71 721 712 721'
methods="$plug --instrument $tmp/rules.xml"
rewritten "$versions" show r.rejit1.Value show r.rejit1.Value show r.revert1.Value show r.rejit1.Value show
status=$?
shows "a plug-in in the first compilation and by ReJIT, and a rule" Value '71 71 71 71 71'
methods="$plug --guest $guest=$library"
rewritten "$versions" show r.rejit1.Value show two.rejit.Value show r.rejit1.Value show r.revert1.Value show two.revert.Value show
status=$?
shows "and a guest" Value '1 1 21 21 12 1'
# Rules come and go. Each runtime has a process and files of its own.
no_rules() { echo '<instrumentation xmlns="urn:sxsprof:instrumentation:1"></instrumentation>' >"$1"; }
cp "$tmp/rules.xml" "$tmp/seven.xml"
whole=$versions
for versions in $whole; do
    for k in 1 2 3; do cp "$tmp/seven.xml" "$tmp/with$k"; no_rules "$tmp/without$k"; done
    no_rules "$tmp/rules.xml"
    methods="$plug --guest $guest=$library --instrument $tmp/rules.xml"
    rewritten "$versions" show r.rejit1.Value show "move:$tmp/with1:$tmp/rules.xml" until:71 two.rejit.Value show \
        "move:$tmp/without1:$tmp/rules.xml" until:21 r.revert1.Value show "move:$tmp/with2:$tmp/rules.xml" until:712 \
        r.rejit1.Value show two.revert.Value show r.revert1.Value show "move:$tmp/without2:$tmp/rules.xml" until:1 \
        two.rejit.Value show "move:$tmp/with3:$tmp/rules.xml" until:712 r.rejit1.Value show two.revert.Value \
        "move:$tmp/without3:$tmp/rules.xml" until:1 r.revert1.Value show
    status=$?
    shows "$versions: rules come and go between these requests" Value '1 1 721 12 721 71 71 12 721 1'
done
finish
