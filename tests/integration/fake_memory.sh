# SPDX-License-Identifier: MIT
# fake_memory.sh - checks that instrumented programs run correctly when allocations of the library fail.
# Each run lets another allocation fail, while simulated runtimes receive new IL, receive the original IL
# again, and load and unload modules. Calls must have the same results as without failures.
#
# N_MEMORY  distance between the allocations that fail (17; 1: each allocation in turn)
. "$(dirname "$0")/lib.sh"
[ -n "$SAN" ] && skip_all "$0" "sanitizers have their own malloc"
export FAKECLR_STRICT=1
clsid=$(sed -n 's/.*SXSPROF_CLSID "\(.*\)".*/\1/p' include/sxsprof.h)
step=${N_MEMORY:-17}

rules() { # NAME [ACTION]: writes $tmp/NAME.xml with this action on every method
    match='<match assembly="Work" type="Fake.Work.Methods" method="*"/>'
    {
        echo '<?xml version="1.0"?><instrumentation xmlns="urn:sxsprof:instrumentation:1">'
        [ $# -gt 1 ] && echo "<rule>$match$2</rule>"
        echo '</instrumentation>'
    } >"$tmp/$1.xml"
}
rules count '<count/>'
rules time '<time/>'
rules none

# run N: runs two runtimes at once; allocation number N of the library fails (N+: all from N on; 0: none)
run() {
    dir=$tmp/$1
    rm -rf "$dir"
    mkdir "$dir" "$dir/s"
    cp "$tmp/count.xml" "$dir/rules.xml"
    work="work module 3; work collectible 2; work call 10 4; edit $tmp/none.xml $dir/rules.xml; sleep-ms 80; work churn 2 2
          edit $tmp/time.xml $dir/rules.xml; sleep-ms 120; work call 10 2; work churn 2 2; work said"
    COR_ENABLE_PROFILING=1 COR_PROFILER=$clsid COR_PROFILER_PATH=$(realpath "$BUILD")/libsxsprof.so \
        CORECLR_ENABLE_PROFILING=1 CORECLR_PROFILER=$clsid CORECLR_PROFILER_PATH=$(realpath "$BUILD")/libsxsprof.so \
        SXSPROF_OUT=$dir/s SXSPROF_INSTRUMENT=$dir/rules.xml FAILING=$1 FAILING_SAID=$dir/said \
        LD_PRELOAD=$(realpath "$BUILD")/tests/libfailing.so timeout -k 5 60 \
        "$runsxs" --timeout 50 fake:8.0 "!$work" "" fake:4.0 "!$work" "" >"$dir/log" 2>&1 &&
        [ "$(grep -c 'il calls 620 .* unloaded 0' "$dir/log")" = 2 ]
}
asked() { awk '/^asked/ { if ($2 > n) n = $2 } END { print n + 0 }' "$tmp/$1/said"; }

run 0
check "all calls are right when no allocation fails" $? "$tmp/0/log"
n=$(asked 0)
[ "$n" -gt 300 ]
check "the library allocates memory more than 300 times ($n times)" $?
bad= refused=0
for nth in $(seq 1 "$step" "$n"); do
    run "$nth" || { bad="$bad $nth"; cat "$tmp/$nth/said" "$tmp/$nth/log" >>"$tmp/why"; }
    grep -q "^refused $nth:" "$tmp/$nth/said" && refused=$((refused + 1))
done
[ -z "$bad" ]
check "one allocation fails, every $step-th in turn: all calls are right${bad:+, but not with:$bad}" $? "$tmp/why"
[ "$refused" -gt $((n / step / 2)) ]
check "allocations did fail ($refused times)" $?
# libxml2 2.9 continues when an allocation fails, with elements that have no name. Later allocations, for
# types of schemas, are left out, because libxml2 itself can crash when they fail.
bad=
export FAILING_XML=1
for nth in $(seq 38 62); do
    run "$nth" || { bad="$bad $nth"; cat "$tmp/$nth/said" "$tmp/$nth/log" >>"$tmp/why"; }
done
unset FAILING_XML
[ -z "$bad" ]
check "allocations of libxml2 fail while it reads a file: all calls are right${bad:+, but not with:$bad}" $? "$tmp/why"
bad=
for nth in 1 5 20 50 100 150 200 300 400; do
    run "$nth+" || { bad="$bad $nth"; cat "$tmp/$nth+/said" "$tmp/$nth+/log" >>"$tmp/why"; }
done
[ -z "$bad" ]
check "all allocations fail from one on: all calls are right${bad:+, but not from:$bad}" $? "$tmp/why"
finish
