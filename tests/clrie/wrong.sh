#!/bin/bash
# SPDX-License-Identifier: MIT
# wrong.sh - a plug-in that breaks one rule at a time, between two good ones, on three runtimes at once, on each alone, and
# under `dotnet app.dll`: the program goes on, the good plug-ins' changes are in force, no call that must fail succeeds,
# and standard error and the engine's log file name the plug-in whose graph is refused. WRONG_RULES: these rules.
. "$(dirname "$0")/../integration/lib.sh"
. tests/clrie/common.inc
need_real 3
[ -e "$BUILD/managed/rewritten/rewritten.dll" ] || skip_all "$0" "the app rewritten is not built"
config rejitter.a=10 wrong=20 rejitter.b=30 # the digits of the good ones are 1 and 3
MicrosoftInstrumentationEngine_LogLevel=Errors MicrosoftInstrumentationEngine_FileLogPath=$tmp/engine.log
export MicrosoftInstrumentationEngine_LogLevel MicrosoftInstrumentationEngine_FileLogPath
export REJITTER_FIRST=13 PLUG_ONLY=rewritten.dll WRONG
all=$versions
rules=${WRONG_RULES:-initialize loaded should before instrument complete jit shutdown inline empty nowhere push pop noret
clause local arg prefix token sig switch baseline stale releases foreign null thread keeps ids masks rejits}
steps='show r.rejit1.Value show r.revert1.Value show'

# run_rule WHERE: run the app with the rule broken: "once", "dotnet" or a version
run_rule() {
    rm -f "$tmp/engine.log"
    case $1 in
    once) versions=$all && rewritten "$all" $steps ;;
    dotnet)
        with_plugins dotnet "$BUILD/managed/rewritten/rewritten.dll" $tellable $steps
        status=$?
        versions=$(sed -n 's/^rewritten \([0-9.]*\): Value.*/\1/p' "$tmp/std" | head -n 1)
        return $status
        ;;
    *) versions=$1 && rewritten "$1" $steps ;;
    esac
}
# holds WHERE: is everything as it must be?
holds() {
    local n v rule="wrong: Rewritten.Work.Value stays without its changes"
    n=$(echo "$versions" | wc -l)
    for v in $versions; do [ "$(values Other "$v")" = '13 13 13' ] || return; done
    case $WRONG in
    initialize) [ "$(grep -c 'instrumentation method wrong .*its Initialize failed' "$tmp/err")" -ge "$n" ] &&
        [ "$(grep -c '^LogError.*wrong: its Initialize failed' "$tmp/engine.log")" -ge "$n" ] ;;
    *) [ "$(said '^wrong .* methods [0-9]* accepted 0 failed 0$')" = "$n" ] ;;
    esac || return
    case $WRONG in
    thread) [ "$(said '^wrong .* rounds 0$')" = 0 ] ;;
    ids) [ "$1" != once ] || said '^wrong .* others [1-9]' >/dev/null ;;
    before | instrument | empty | push | pop | noret | clause | local | arg | prefix | nowhere | sig)
        [ "$(grep -c "instrumentation method $rule" "$tmp/err")" -ge "$n" ] &&
            ! grep -q 'instrumentation method rejitter' "$tmp/err" &&
            [ "$(grep -c "^LogError.*:$rule" "$tmp/engine.log")" -ge "$n" ] &&
            ! grep -q 'rejitter.*stays without' "$tmp/engine.log"
        ;;
    esac
}
places="once $(echo $all)"
if command -v dotnet >/dev/null; then places="$places dotnet"; else echo "# no dotnet command: nothing is run under dotnet"; fi
for WRONG in $rules; do
    failed=
    for place in $places; do
        run_rule "$place" && holds "$place" && continue
        failed="$failed $place"
        cat "$tmp/out" "$tmp/err" "$tmp/engine.log" >>"$tmp/std" 2>/dev/null
        break
    done
    [ -z "$failed" ]
    check "$WRONG: the program ends well, the good plug-ins' changes hold, what is refused is named ($places)$failed" $? "$tmp/std"
done
finish
