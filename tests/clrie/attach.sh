#!/bin/sh
# SPDX-License-Identifier: MIT
# attach.sh - checks that plug-ins named by the client data of an attach are loaded into a running CLR, with their
# settings, and that a raw profiler that a plug-in adds then works.
. "$(dirname "$0")/../integration/lib.sh"
need_real 3
[ -e "$BUILD/managed/profiled/profiled.dll" ] || skip_all "$0" "the managed apps are not built"
engine=324F817A-7420-4E6D-B3C1-143FBED6D855
id=5E5C0015-0000-4000-8000-000000000001
case $BUILD in /*) build=$BUILD ;; *) build=$PWD/$BUILD ;; esac

ln -s "$build/clrie/libhooker.so" "$tmp/"
cat >"$tmp/hooker.xml" <<X
<InstrumentationEngineConfiguration><InstrumentationMethod>
<Name>hooker</Name><Description>a plug-in of the tests</Description><Module>libhooker.so</Module>
<ClassGuid>{$id}</ClassGuid>
</InstrumentationMethod></InstrumentationEngineConfiguration>
X
cat >"$tmp/data" <<X
<InstrumentationEngineConfiguration>
<InstrumentationEngine><Settings>
<Setting Name="LogLevel" Value="All"/><Setting Name="LogFilePath" Value="$tmp/engine.log"/>
</Settings></InstrumentationEngine>
<InstrumentationMethods><AddInstrumentationMethod ConfigPath="$tmp/hooker.xml"><Settings>
<Setting Name="color" Value="blue"/><Setting Name="color" Value="red"/><Setting Name="size" Value="7"/>
</Settings></AddInstrumentationMethod></InstrumentationMethods></InstrumentationEngineConfiguration>
X

runs() { pid=$(pgrep -P $timeout_pid -x runsxs) && grep -q 'profiled\.dll' "/proc/$pid/maps"; }
start() {
    rm -f "$tmp/until" "$tmp/out" "$tmp/prof" "$tmp/engine.log"
    PLUG_OUT=$tmp/out PROF_OUT=$tmp/prof HOOK_LIB=$build/guests/libthreads.so \
        HOOK_CLSID=$(sed -n 's/.*prof_clsid\[\] *= *"\(.*\)".*/\1/p' tests/guests/threads.c) \
        timeout -k 5 200 "$runsxs" --timeout 180 "$1" profiled "until=$tmp/until" >"$tmp/log" 2>&1 &
    timeout_pid=$!
    pid=
    wait_until runs
}
stop() {
    : >"$tmp/until"
    wait $timeout_pid
    check "runtime $version: the program ends with status 0 $1" $? "$tmp/log"
}
is_complete() { grep -q AttachComplete "$tmp/out" 2>/dev/null; }

for version in 8.0 9.0 $net10; do
    start $version
    python3 tests/integration/attach.py "$pid" $engine "$build/libsxsprof.so" "$tmp/data" >>"$tmp/log" 2>&1
    check "runtime $version: the engine is attached" $? "$tmp/log"
    wait_until is_complete
    check "runtime $version: the plug-in gets AttachComplete" $? "$tmp/log"
    stop "with the engine"
    [ "$(grep -c 'InitializeForAttach$' "$tmp/out")" = 1 ] &&
        [ "$(sed -n 's/.* setting //p' "$tmp/out" | tr '\n' ' ')" = "color=blue size=7 " ]
    check "runtime $version: InitializeForAttach has the settings, of two with one name the first" $? "$tmp/out"
    grep -q 'AttachComplete: GetName 0x80004005, 1 module profiled.dll' "$tmp/out"
    check "runtime $version: modules that were loaded before are known; their AppDomain has no name yet" $? "$tmp/out"
    grep -q 'hooker: loaded' "$tmp/engine.log"
    check "runtime $version: the log has the level and the file of the settings" $? "$tmp/log"
    grep -q 'named [1-9]' "$tmp/prof"
    check "runtime $version: the plug-in's raw profiler sees the program's threads" $? "$tmp/prof"
done

version=9.0
start $version
: >"$tmp/none"
python3 tests/integration/attach.py "$pid" $engine "$build/libsxsprof.so" "$tmp/none" >>"$tmp/log" 2>&1
stop "after an attach without client data"
! [ -e "$tmp/out" ] && grep -q 'InitializeForAttach failed.*0x80131375' "$tmp/log"
check "without client data the engine stays off, and one line says so" $? "$tmp/log"
finish
