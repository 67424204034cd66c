# SPDX-License-Identifier: MIT
# Memory refused to the library, one request after the other, while simulated runtimes get new IL, get the original back,
# load and unload: calls give what they give without, and nothing dies. N_MEMORY: every how many-th request (1: all).
. "$(dirname "$0")/lib.sh"
[ -n "$SAN" ] && skip_all "$0" "sanitizers have their own malloc"
export FAKECLR_STRICT=1
clsid=$(sed -n 's/.*SXSPROF_CLSID "\(.*\)".*/\1/p' include/sxsprof.h)
step=${N_MEMORY:-17}

rules() { # NAME [ACTION]
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

# run FAILING: the library gets no memory at that request; two runtimes at once
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
check "no request refused" $? "$tmp/0/log"
n=$(asked 0)
[ "$n" -gt 300 ]
check "the library asks for memory ($n times)" $?
bad= refused=0
for nth in $(seq 1 "$step" "$n"); do
    run "$nth" || { bad="$bad $nth"; cat "$tmp/$nth/said" "$tmp/$nth/log" >>"$tmp/why"; }
    grep -q "^refused $nth:" "$tmp/$nth/said" && refused=$((refused + 1))
done
[ -z "$bad" ]
check "one request refused, every $step-th in turn: all calls are right${bad:+, but not with:$bad}" $? "$tmp/why"
[ "$refused" -gt $((n / step / 2)) ]
check "and it was refused ($refused times)" $?
# libxml2 2.9 goes on without memory, with elements that have no name. For want of what it asks for later than here, types
# of schemas, it can itself crash.
bad=
export FAILING_XML=1
for nth in $(seq 38 62); do
    run "$nth" || { bad="$bad $nth"; cat "$tmp/$nth/said" "$tmp/$nth/log" >>"$tmp/why"; }
done
unset FAILING_XML
[ -z "$bad" ]
check "requests of libxml2 refused while it reads a file: all calls are right${bad:+, but not with:$bad}" $? "$tmp/why"
bad=
for nth in 1 5 20 50 100 150 200 300 400; do
    run "$nth+" || { bad="$bad $nth"; cat "$tmp/$nth+/said" "$tmp/$nth+/log" >>"$tmp/why"; }
done
[ -z "$bad" ]
check "every request refused from one on: all calls are right${bad:+, but not from:$bad}" $? "$tmp/why"
finish
