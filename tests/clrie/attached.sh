#!/bin/bash
# SPDX-License-Identifier: MIT
# attached.sh - plug-ins that change code, attached to a running CLR: ReJIT and methods compiled later are changed; event
# flags that no profiler can ask for after an attach are refused, and the log says so.
. "$(dirname "$0")/../integration/lib.sh"
. tests/clrie/common.inc
need_real 3
[ -e "$BUILD/managed/rewritten/rewritten.dll" ] || skip_all "$0" "the app rewritten is not built"
all=$versions
engine=324F817A-7420-4E6D-B3C1-143FBED6D855
case $BUILD in /*) build=$BUILD ;; *) build=$PWD/$BUILD ;; esac
export PLUG_OUT=$tmp/out PLUG_ONLY=rewritten.dll LOGGER_ONLY=rewritten.dll PLUG_EARLY=Value

runs() { pid=$(pgrep -P $timeout_pid -x runsxs) && grep -q 'rewritten\.dll' "/proc/$pid/maps"; }
# attached VERSION STEP...: run the app, which waits in its first step, and attach the plug-ins that config has named.
# Their AttachComplete requests Work.Value, whose new value lets the app go on. $status: that of the app, or of the attach
attached() {
    local name answer
    versions=$1
    shift
    rm -f "$tmp/out" "$tmp/engine.log"
    {
        echo '<InstrumentationEngineConfiguration><InstrumentationEngine><Settings>'
        echo "<Setting Name='LogLevel' Value='Errors'/><Setting Name='LogFilePath' Value='$tmp/engine.log'/>"
        echo '</Settings></InstrumentationEngine><InstrumentationMethods>'
        for name in $methods; do
            [ "$name" = --method ] || echo "<AddInstrumentationMethod ConfigPath='$name'></AddInstrumentationMethod>"
        done
        echo '</InstrumentationMethods></InstrumentationEngineConfiguration>'
    } >"$tmp/data"
    timeout -k 5 100 "$runsxs" --timeout 90 "$versions" rewritten "$tellable $*" >"$tmp/std" 2>"$tmp/err" &
    timeout_pid=$!
    pid=
    wait_until runs
    python3 tests/integration/attach.py "$pid" $engine "$build/libsxsprof.so" "$tmp/data" >>"$tmp/err" 2>&1
    answer=$?
    wait $timeout_pid
    status=$?
    [ $status -ne 0 ] || status=$answer
    cat "$tmp/out" "$tmp/engine.log" >>"$tmp/err" 2>/dev/null
}
number() { sed -En "s/^$1 .* $2 ([0-9]+)( .*)?\$/\1/p" "$tmp/out" | tail -n 1; }

for v in $all; do
    config rejitter
    REJITTER_FIRST=1 attached "$v" until:1 show r.revert1.Value show r.rejit1.Other show r.detach1.Value show
    shows "$v, rejitter: ReJIT, and a revert of what was compiled before" Value '1 0 0 0'
    shows "$v, rejitter: methods compiled later" Other '1 1 1 1'
    grep -q 'r.detach1.Value 80131370' "$tmp/std"
    check "$v: a detach is refused" $? "$tmp/std"

    config baseline
    attached "$v" until:8 show b.revert1.Value show b.rejit1.Other show
    shows "$v, baseline: ReJIT and a revert" Value '8 0 0'
    shows "$v, baseline: a method compiled later, then ReJIT" Other '9 9 8'

    for plugin in inserter locals; do
        config rejitter=10 $plugin=20
        attached "$v" until:1 show r.rejit1.Other show
        shows "$v, $plugin: the results stay, beside rejitter's" Other '0 1'
        [ "$(number $plugin methods)" -ge 6 ] && [ "$(number $plugin methods)" = "$(number $plugin completed)" ] &&
            [ "$(number $plugin failed)" = 0 ] && [ "$(number $plugin entered)" -gt 0 ] &&
            [ "$(number $plugin left)" -gt 0 ] && ! grep -q 'stays without' "$tmp/engine.log"
        check "$v, $plugin: its code runs in all methods compiled later, and in ReJIT" $? "$tmp/err"
    done

    config rejitter=10 logger.a=20 logger.b=30
    LOGGER_MASK=2000000 attached "$v" until:1 show
    shows "$v, logger: the program goes on" Value 1
    [ "$(said 'SetEventMask 2000000 0x80004005 mask 0x4007c')" = 2 ] &&
        [ "$(grep -c '^LogError.*logger.[ab]: SetEventMask: the runtime refuses the event flags 0x02000000' "$tmp/engine.log")" = 2 ]
    check "$v, logger: flags that are not for attached profilers are refused to each plug-in, and the log says so" $? "$tmp/err"
    [ "$(said 'AttachComplete$')" = 2 ] && [ "$(said 'ShouldInstrumentMethod Rewritten.Work.Value .*rejit=1')" = 2 ] &&
        [ "$(said 'ShouldInstrumentMethod Rewritten.Work.Other .*rejit=0')" = 2 ] &&
        [ "$(said 'JitComplete Rewritten.Work.Other')" = 2 ] && [ "$(said 'OnShutdown$')" = 2 ]
    check "$v, logger: both keep what they had before; they see ReJIT and methods compiled later" $? "$tmp/err"

    config rejitter.a=10 wrong=20 rejitter.b=30
    for WRONG in initialize before pop token stale releases foreign thread keeps masks rejits; do
        export WRONG
        REJITTER_FIRST=13 attached "$v" until:13 show r.rejit1.Other show
        [ $status -eq 0 ] && [ "$(values Other "$v")" = '13 13' ] && case $WRONG in
        before | pop | token) grep -q '^LogError.*wrong: Rewritten.Work.Value stays without its changes' "$tmp/engine.log" ;;
        initialize) grep -q '^LogError.*wrong: its InitializeForAttach failed' "$tmp/engine.log" ;;
        *) [ "$(said '^wrong .* accepted 0 failed 0$')" = 1 ] ;;
        esac
        ok_rule=$?
        [ $ok_rule = 0 ] || { cat "$tmp/std" >>"$tmp/err"; check "$v, wrong, $WRONG" 1 "$tmp/err"; }
    done
    ok "$v, wrong: rules broken after an attach do no harm, and the log names the plug-in"
done
finish
