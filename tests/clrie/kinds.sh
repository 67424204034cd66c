#!/bin/bash
# SPDX-License-Identifier: MIT
# kinds.sh - plug-ins and kinds of code: assemblies that are unloaded, dynamic modules, generic code, precompiled code of
# the base libraries; and a detach of the engine. On each runtime alone, and on all at once.
# KINDS_CONTEXTS: how many assemblies are loaded and unloaded in each runtime.
. "$(dirname "$0")/../integration/lib.sh"
. tests/clrie/common.inc
need_real 3
[ -e "$BUILD/managed/unloads/unloads.dll" ] && [ -e "$BUILD/managed/rewritten/rewritten.dll" ] ||
    skip_all "$0" "the managed apps are not built"
all=$versions
contexts=${KINDS_CONTEXTS:-100}
MicrosoftInstrumentationEngine_LogLevel=Errors MicrosoftInstrumentationEngine_FileLogPath=$tmp/engine.log
export MicrosoftInstrumentationEngine_LogLevel MicrosoftInstrumentationEngine_FileLogPath
of() { sed -En "s/^$1 $2 (.* )?$3 ([0-9]+)( .*)?\$/\2/p" "$tmp/out" | tail -n 1; } # PLUGIN VERSION WORD: the number after it
lines_of() { grep -c "^$1 $2 $3" "$tmp/out"; }

# unloads NAME: what must hold when $versions have loaded and unloaded assemblies whose methods two plug-ins changed
unloads_hold() {
    local v
    # Main's own module stays; each context and each dynamic assembly loads modules.
    for v in $versions; do
        [ "$(of inserter "$v" methods)" -ge $((3 * contexts)) ] && [ "$(of inserter "$v" methods)" = "$(of inserter "$v" completed)" ] &&
            [ "$(of inserter "$v" failed)" = 0 ] && [ "$(of inserter "$v" left)" -gt $((2 * contexts)) ] || return
        [ "$(lines_of logger "$v" 'OnModuleLoaded unloads.dll')" = $((contexts + 1)) ] &&
            [ "$(lines_of logger "$v" 'OnModuleUnloaded unloads.dll')" -ge $((contexts * 9 / 10)) ] || return
        # A dynamic assembly: its modules are seen coming and going, its methods are not asked for.
        [ "$(lines_of logger "$v" 'OnModuleLoaded RefEmit_InMemoryManifestModule')" -ge $((contexts / 4)) ] &&
            [ "$(lines_of logger "$v" 'OnModuleUnloaded RefEmit_InMemoryManifestModule')" -ge $((contexts / 5)) ] &&
            [ "$(lines_of logger "$v" 'ShouldInstrumentMethod Made')" = 0 ] || return
    done
    [ "$(grep -c '^unloads: .* gone$' "$tmp/std")" = "$(echo "$versions" | wc -l)" ] && ! grep -q ' only ' "$tmp/std" &&
        [ ! -s "$tmp/engine.log" ]
}
export PLUG_ONLY=unloads.dll
for versions in $all "$all"; do
    config inserter=10 logger=20
    LOGGER_ONLY=Made run_on "$versions" unloads "contexts=$contexts dynamic=$((contexts / 4)) threads=2" && unloads_hold
    status=$?
    { grep -v '^logger' "$tmp/out"; cat "$tmp/err" "$tmp/engine.log"; } >>"$tmp/std" 2>/dev/null
    check "$(echo $versions): $contexts collectible assemblies with changed methods are unloaded; dynamic ones are left alone" \
        $status "$tmp/std"
    rm -f "$tmp/engine.log"
done

# What stays of an unloaded assembly would add up: the peak of the process's memory must not grow with their number.
peak() { # CONTEXTS: in MiB, of the newest runtime
    rm -rf "$tmp/session"
    # shellcheck disable=SC2086 # options are words
    PLUG_OUT=$tmp/out python3 -c 'import resource, subprocess, sys
status = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)
sys.exit(status)' "$sxsprof" run --quiet $methods -o "$tmp/session" -- "$runsxs" --timeout 100 10 unloads "contexts=$1 dynamic=0 threads=0"
}
config inserter
few=$(peak 50) && many=$(peak $((contexts + 50))) && [ "$few" -gt 0 ] && [ $((many - few)) -lt 5 ]
check "the memory of the process does not grow with the number of assemblies ($few MiB and $many MiB)" $?

export PLUG_ONLY=rewritten.dll
for versions in $all "$all"; do
    config rejitter
    REJITTER_FIRST=1 rewritten "$versions" show
    status=$?
    shows "$(echo $versions): a change of a generic method is in its code over a value type" Generic 1
    shows "and in its code over a reference type, which is shared" 'Generic [0-9]*' 1
    rewritten "$versions" show r.rejit1.Generic show r.revert1.Generic show r.rejit1.Generic show
    status=$?
    shows "$(echo $versions): ReJIT and revert of a generic method, over a value type" Generic '0 1 0 1'
    shows "over a reference type" 'Generic [0-9]*' '0 1 0 1'

    # The first "count" comes before any request, the second with new code, the third and fourth after the revert.
    config precompiled
    run_on "$versions" rewritten \
        "c=$clrie_lib/libprecompiled.so c.count.Value show c.rejit.Value show show c.count.Value c.revert.Value show c.count.Value show show c.count.Value"
    status=$?
    for v in $versions; do
        # shellcheck disable=SC2046 # numbers are words
        set -- $(sed -n "s/^precompiled $v calls //p" "$tmp/out")
        [ "$#" = 4 ] && [ "$1" = 0 ] && [ "$2" -ge 3 ] && [ "$4" = "$3" ] &&
            [ "$(of precompiled "$v" failed)" = 0 ] && [ "$(of precompiled "$v" compiled)" = 0 ] || status=1
    done
    cat "$tmp/out" "$tmp/err" >>"$tmp/std"
    check "$(echo $versions): ReJIT of precompiled code of the core library takes effect, and is reverted" $status "$tmp/std"

    config rejitter
    rewritten "$versions" show r.rejit1.Value show r.detach1.Value show r.revert1.Value show
    status=$?
    shows "$(echo $versions): after a detach that is refused, plug-ins work on" Value '0 1 1 0'
    [ "$(grep -c 'r.detach1.Value 80131370' "$tmp/std")" = "$(echo "$versions" | wc -l)" ]
    check "a detach is refused (CORPROF_E_IRREVERSIBLE_INSTRUMENTATION_PRESENT)" $? "$tmp/std"
    # CLRIE's own engine is refused, too: it asks for ReJIT, as this one does.
    rewritten "$versions" show r.detach1.Value show
    status=$?
    shows "$(echo $versions): likewise when nothing was changed" Value '0 0'
    [ "$(grep -c 'r.detach1.Value 80131370' "$tmp/std")" = "$(echo "$versions" | wc -l)" ] &&
        [ "$(said ' failed 0$')" = "$(echo "$versions" | wc -l)" ]
    check "the detach is refused, and the plug-ins get OnShutdown at the end" $? "$tmp/out"
done
finish
