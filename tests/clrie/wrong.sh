#!/bin/bash
# SPDX-License-Identifier: MIT
# wrong.sh - a plug-in that breaks one rule at a time, between two good ones: the program goes on, the good plug-ins'
# changes are in force on each runtime, and the log names the plug-in whose graph is refused. WRONG_RULES: these rules.
. "$(dirname "$0")/../integration/lib.sh"
. tests/clrie/common.inc
need_real 3
[ -e "$BUILD/managed/rewritten/rewritten.dll" ] || skip_all "$0" "the app rewritten is not built"
config rejitter.a=10 wrong=20 rejitter.b=30 # the digits of the good ones are 1 and 3
export REJITTER_FIRST=13 PLUG_ONLY=rewritten.dll WRONG
n=$(echo "$versions" | wc -l)
rules=${WRONG_RULES:-initialize loaded should before instrument complete jit shutdown inline empty nowhere push pop noret
clause local arg prefix token sig switch baseline stale releases foreign null}
for WRONG in $rules; do
    rewritten "$versions" show r.rejit1.Value show r.revert1.Value show
    status=$?
    shows "$WRONG: the program ends well, with the good plug-ins' changes" Other '13 13 13'
    case $WRONG in
    before | instrument | empty | push | pop | noret | clause | local | arg | prefix | nowhere | sig)
        [ "$(grep -c 'instrumentation method wrong: Rewritten.Work.Value stays without its changes' "$tmp/err")" -ge "$n" ] &&
            ! grep -q 'instrumentation method rejitter' "$tmp/err"
        check "$WRONG: the plug-in is named, and no other one" $? "$tmp/err"
        ;;
    esac
done
finish
