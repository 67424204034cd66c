#!/bin/sh
# SPDX-License-Identifier: MIT
# raw.sh - checks what plug-ins do with the raw interfaces of a profiler: a raw profiler of a plug-in prints the same as
# directly in the runtime, and bodies that a plug-in writes through ICorProfilerInfo are compiled.
. "$(dirname "$0")/../integration/lib.sh"
. tests/guests/common.inc
need_real 3
[ -e "$BUILD/managed/profiled/profiled.dll" ] || skip_all "$0" "the managed apps are not built"
case $BUILD in /*) build=$BUILD ;; *) build=$PWD/$BUILD ;; esac

for name in hooker bodies; do
    ln -s "$build/clrie/lib$name.so" "$tmp/"
    cat >"$tmp/$name.xml" <<X
<InstrumentationEngineConfiguration><InstrumentationMethod>
<Name>$name</Name><Description>a plug-in of the tests</Description><Module>lib$name.so</Module>
<ClassGuid>{5E5C0015-0000-4000-8000-000000000001}</ClassGuid>
</InstrumentationMethod></InstrumentationEngineConfiguration>
X
done
# run PLUGIN ARGUMENTS...: run apps with the plug-in
run() {
    name=$1
    shift
    rm -rf "$tmp/out" "$tmp/session"
    PLUG_OUT=$tmp/out "$sxsprof" run --quiet --method "$tmp/$name.xml" -o "$tmp/session" -- "$runsxs" --timeout 120 \
        "$@" >"$tmp/log" 2>&1
}

versions="8.0 9.0 $net10"
for version in $versions; do
    PROF_OUT=$tmp/direct directly census "$version" >>"$tmp/log" 2>&1 || not_ok "census directly in $version" "$tmp/log"
done
HOOK_LIB=$(library_of census) HOOK_CLSID=$(id_of census) PROF_OUT=$tmp/hooked
export HOOK_LIB HOOK_CLSID PROF_OUT
run hooker 8.0 profiled "" 9.0 profiled "" $net10 profiled ""
check "a plug-in brings a raw profiler on three runtimes" $? "$tmp/log"
for version in $versions; do
    lines_of "$tmp/direct" census "$version" >"$tmp/expected"
    lines_of "$tmp/hooked" census "$version" >"$tmp/got"
    [ -s "$tmp/expected" ] && diff "$tmp/expected" "$tmp/got" >"$tmp/diff"
    check "runtime $version: the raw profiler prints the same as directly" $? "$tmp/diff"
done
[ "$(grep -c 'Hook NULL 0x80004003' "$tmp/out")" = 3 ] && [ "$(grep -c 'Hook first 0$' "$tmp/out")" = 3 ] &&
    [ "$(grep -c 'Hook second 0x80004005' "$tmp/out")" = 3 ] && [ "$(grep -c 'Hook late 0x80004005' "$tmp/out")" = 3 ]
check "NULL, a second raw profiler and one after Initialize are refused" $? "$tmp/out"
# The counts are printed at Shutdown. At the end of a process a runtime does not release its profiler.
[ "$(grep -c 'census .* GarbageCollectionStarted' "$tmp/hooked")" = 3 ] && ! grep -q 'census .* released' "$tmp/hooked"
check "the raw profilers get Shutdown once, and keep their objects at the end of a process, as directly" $? "$tmp/hooked"

rm -f "$tmp/hooked"
HOOK_REMOVE=profiled.dll run hooker 9.0 profiled ""
check "a plug-in removes its raw profiler while the program runs" $? "$tmp/log"
grep -q 'RemoveRawProfilerHook 0' "$tmp/out" && ! grep -q 'census .* compiling Profiled' "$tmp/hooked"
check "a raw profiler that was removed gets no further events" $? "$tmp/hooked"

# results: the status of each app, by version
results() { sed -n 's/^runsxs: [0-9]* \([0-9.]*\) .*result=\([-0-9]*\).*/\1=\2/p' "$tmp/log" | sort -V | tr '\n' ' '; }
BODIES_METHOD=Hello.Program.Main BODIES_BROKEN=1
export BODIES_METHOD BODIES_BROKEN
run bodies 8.0 hello "" 9.0 hello "" $net10 hello ""
case $(results) in 8.*=77\ 9.*=77\ 10.*=77\ ) true ;; *) false ;; esac
check "a body that a plug-in writes through ICorProfilerInfo is compiled on three runtimes" $? "$tmp/log"
expect() { [ "$(grep -c "$1" "$tmp/out")" = 3 ] || echo "missing: $1"; }
{
    expect 'GetILFunctionBodyAllocator(NULL) 0x80004003'
    expect 'InstrumentMethod: GetILFunctionBody 0, header fat'
    expect 'SetILFunctionBody in foreign memory 0x80004005'
    expect 'SetILFunctionBody of another method 0$'
    expect 'SetILFunctionBody that no JIT accepts 0x80004005'
    expect "SetILFunctionBody in the allocator's memory 0\$"
    expect 'SetILFunctionBody again 0x80004005'
    expect 'SetILInstrumentedCodeMap 0, of another function 0x80004005'
    expect 'OnInstrumentationComplete: GetILFunctionBody 0, header fat'
    expect 'mask 0x4023c$'
    expect 'mask 0x4003c$'
    expect 'mask 0x5003c 0x10$'
} >"$tmp/diff"
[ ! -s "$tmp/diff" ]
check "the plug-in's ICorProfilerInfo answers as CLRIE's does" $? "$tmp/diff"
MicrosoftInstrumentationEngine_UserBuffer=1 BODIES_BROKEN='' run bodies 9.0 hello ""
grep -q 'in foreign memory 0$' "$tmp/out" && case $(results) in 9.*=77\ ) true ;; *) false ;; esac
check "with UserBuffer a body in the plug-in's own memory is accepted" $? "$tmp/out"
finish
