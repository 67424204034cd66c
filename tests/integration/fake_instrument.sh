# SPDX-License-Identifier: MIT
# fake_instrument.sh - checks instrumentation by new IL on simulated runtimes, also under sanitizers: old
# versions, failures of each call to the runtime, modules that are loaded and unloaded during edits, detaching
# and shutdown. The number of calls that ran new IL must be the number that the tool counted.
. "$(dirname "$0")/lib.sh"
preload=$([ "$SAN" = thread ] && echo --no-preload)
[ "$SAN" = thread ] && export FAKECLR_SIGNALS=off
export FAKECLR_STRICT=1
clsid=$(sed -n 's/.*SXSPROF_CLSID "\(.*\)".*/\1/p' include/sxsprof.h)
rounds=20
[ -n "$SAN" ] && rounds=5

rules() { # NAME [ACTION]...: writes $tmp/NAME.xml, which applies each action to every method
    name=$1
    shift
    {
        echo '<?xml version="1.0"?><instrumentation xmlns="urn:sxsprof:instrumentation:1">'
        for action in "$@"; do
            echo "<rule><match assembly=\"Work\" type=\"Fake.Work.Methods\" method=\"*\"/>$action</rule>"
        done
        echo '</instrumentation>'
    } >"$tmp/$name.xml"
}
rules count '<count/>'
rules time '<time/>'
rules none
run() { # RULES VERSION SCENARIO...
    cp "$tmp/$1.xml" "$tmp/rules.xml"
    shift
    rm -rf "${tmp:?}/s"
    apps=()
    while [ $# -gt 0 ]; do
        apps+=("fake:$1" "!$2" "")
        shift 2
    done
    : >"$tmp/why"
    # shellcheck disable=SC2086
    COR_ENABLE_PROFILING=1 COR_PROFILER=$clsid COR_PROFILER_PATH=$(realpath "$BUILD")/libsxsprof.so \
        SXSPROF_INSTRUMENT=$tmp/rules.xml timeout -k 5 100 "$sxsprof" run --quiet $preload -o "$tmp/s" -- \
        "$runsxs" --timeout 90 "${apps[@]}" >"$tmp/log" 2>&1 &&
        "$sxsprof" report --format json "$tmp/s" >"$tmp/json" 2>>"$tmp/log" &&
        ! grep -q "Sanitizer" "$tmp/log"
}
# holds EXPRESSION: evaluates a Python expression over s (methods of the report), log, of(version) (methods of
# a version), calls(version) and new(version) (numbers of calls and of calls with new IL, counted by the
# runtime). Fails as well if the tool counted another number of calls with new IL.
holds() {
    python3 - "$tmp/json" "$tmp/log" "$1" >"$tmp/why" <<'E2'
import json, sys
s = json.load(open(sys.argv[1])).get("instrument", [])
log = open(sys.argv[2]).read()
said = {}
for line in log.splitlines():
    if line.startswith("fakeclr ") and " il calls " in line:
        w = line.split()
        said[w[1]] = tuple(map(int, (w[4], w[6], w[8])))
def of(version): return [x for x in s if (x["version"] + ".").startswith(version + ".")]
def calls(version): return said[version][0]
def new(version): return said[version][1]
def counted(version): return sum(x["calls"] for x in of(version))
exact = said and all(counted(v) == n[1] and n[2] == 0 for v, n in said.items())
fine = exact and eval(sys.argv[3], globals())
if not fine:
    print("said", said, [(x["version"], x["name"], x["state"], x["calls"], x.get("reason")) for x in s])
sys.exit(not fine)
E2
}
work="work module 3; work call 10 4; work said"

# ---- versions -----------------------------------------------------------------------------------
run count 3.1 "$work" 5.0 "$work" 6.0 "$work" 7.0 "$work" 8.0 "$work" 9.0 "$work" 10.0 "$work"
check "a run of seven versions at once with <count/> ends with status 0" $? "$tmp/log"
holds 'len(said) == 7 and all(new(v) == calls(v) == 120 and len(of(v)) == 3 for v in said)'
check "every call is counted, from the first one on" $? "$tmp/why"
run time 4.0 "$work" 10.0 "$work"
check "a runtime with ICorProfilerInfo4, which re-JITs without inliners, runs beside the newest one" $? "$tmp/log"
holds 'new("4.0") == new("10.0") == 120 and all(x["calls_ended"] == 40 for x in s)'
check "methods are timed in both runtimes" $? "$tmp/why"
run count 2.0 "$work; edit $tmp/none.xml $tmp/rules.xml; sleep-ms 300; $work"
check "a program on a runtime with ICorProfilerInfo2, which cannot re-JIT, ends with status 0" $? "$tmp/log"
holds 'new("2.0") == 240 and log.count("has no ReJIT") == 1 and all("stays" in x["reason"] for x in s)'
check "this runtime runs new IL from the first compilation on, and one message says that it stays" $? "$tmp/why"

# ---- failures of each call to the runtime -------------------------------------------------------
# In each runtime one of the calls fails. The state of the methods must say why, and the program must end with
# status 0.
refused() { # CALL...
    set -- "$@"
    versions=(3.1 5.0 6.0 7.0 8.0 9.0 10.0)
    args=() i=0 names=
    for what in "$@"; do
        args+=("${versions[$i]}" "$before fail $what 0x8004abcd; $work")
        names="$names $what"
        i=$((i + 1))
    done
    run count "${args[@]}"
    check "programs end with status 0 when one call fails in each runtime:$names" $? "$tmp/log"
}
before=
refused ApplyMetaData GetILFunctionBody Control.SetILFunctionBody Emit.DefineTypeRefByName \
    Emit.GetTokenFromSig AssemblyEmit.DefineAssemblyRef QueryInterface.AssemblyEmit
holds 'len(said) == 7 and all(new(v) == 0 and calls(v) == 120 and len(of(v)) == 3 for v in said) and all(x["state"] == "failed" and x["reason"] for x in s)'
check "the methods have the state failed, with a reason" $? "$tmp/why"
refused GetModuleMetaData QueryInterface.AssemblyImport Import.EnumTypeDefs Import.EnumMethods \
    AssemblyImport.GetAssemblyFromScope
holds 'all(new(v) == 0 for v in said if v != "8.0")'
check "methods of a module that cannot be read keep their IL" $? "$tmp/why"
before="fail RequestReJITWithInliners 0x8004abcd;"
refused RequestReJIT ReJIT ReJIT.refused GetFunctionFromToken GetModuleInfo2 \
    Control.SetILInstrumentedCodeMap GetFunctionInfo
holds 'all(new(v) == 0 and [x["state"] for x in of(v)] == 3 * ["failed"] and "8004abcd" in of(v)[0]["reason"] for v in ("3.1", "5.0", "6.0"))'
check "methods whose re-JIT request or compilation fails have the state failed, with the error code of the runtime" $? "$tmp/why"
holds 'all(new(v) == 120 and [x["state"] for x in of(v)] == 3 * ["active"] for v in ("7.0", "8.0", "9.0", "10.0"))'
check "methods are active when a call fails that is not necessary" $? "$tmp/why"
before= work=${work/module/collectible}
refused GetILFunctionBodyAllocator SetILFunctionBody Malloc.Alloc
holds 'len(s) == 9 and all(new(v) == 0 for v in said) and all(x["state"] == "failed" and x["reason"] for x in s)'
check "methods of collectible modules, which have no re-JIT, have the state failed" $? "$tmp/why"
# The library notes the state after the runtime has returned, and calls run the original IL already before that.
late="work module 3; work call 1; edit $tmp/count.xml $tmp/rules.xml; work new; edit $tmp/none.xml $tmp/rules.xml; work original; sleep-ms 300; work said"
run none 9.0 "fail RequestReJITWithInliners 0x8004abcd; $late" && holds 'new("9.0") > 0 and all(x["state"] == "reverted" for x in s)'
check "when a re-JIT with inliners fails, methods are re-JITted without them" $? "$tmp/why"
late="work module 3; work new; fail RequestRevert 0x8004abcd; edit $tmp/none.xml $tmp/rules.xml; sleep-ms 3000; work said"
run count 9.0 "$late" && holds 'all(x["state"] == "failed" and "8004abcd" in x["reason"] for x in s) and len(s) == 3'
check "methods that cannot be reverted have the state failed, with the error code of the runtime" $? "$tmp/why"
for nth in 2 3 4; do
    run count 8.0 "fail ApplyMetaData 0x8004abcd $nth; $work" 9.0 "fail GetILFunctionBody 0x8004abcd $nth; $work"
    check "programs end with status 0 when call number $nth fails" $? "$tmp/log"
    holds 'all(sorted(x["state"] for x in of(v)) in (["active", "active", "active"], ["active", "active", "failed"]) for v in said)'
    check "at most one method has the state failed, the others are active" $? "$tmp/json"
done

# ---- races --------------------------------------------------------------------------------------
storm="work module 3"
for _ in $(seq $rounds); do
    storm="$storm; edit $tmp/count.xml $tmp/rules.xml; work churn 3 4; edit $tmp/none.xml $tmp/rules.xml; work churn 3 4; work call 5 3"
done
run count 8.0 "$storm; work said" 9.0 "$storm; work said" 10.0 "$storm; work said"
check "four threads of each runtime load and unload modules while rules are added and removed" $? "$tmp/log"
holds 'len(said) == 3 and all(calls(v) > 500 for v in said)'
check "the library does not use unloaded modules, and calls with new IL are counted exactly" $? "$tmp/why"
run none 9.0 "work module 3; work call 10; detach; work call 10; work said" 8.0 "work module 3; work call 10; work said"
check "a profiler that changed no method can be detached" $? "$tmp/log"
run count 9.0 "work module 3; work call 10; edit $tmp/none.xml $tmp/rules.xml; work original; detach"
grep -q "failed: 0x80131370" "$tmp/log"
check "a runtime that received new IL does not detach the profiler, even after the original is back" $? "$tmp/log"
run count 8.0 "work module 3; work call 5; edit $tmp/none.xml $tmp/rules.xml" 9.0 "work module 4; edit $tmp/count.xml $tmp/rules.xml" \
    10.0 "$storm"
check "a runtime shuts down right after an edit while another one continues" $? "$tmp/log"
finish
