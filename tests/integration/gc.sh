# SPDX-License-Identifier: MIT
# gc.sh - checks the tool "gc" on real runtimes: collections that an app forces in a known order are compared with
# what each runtime itself says of them; collections that sxsprof_force_gc() forces.
. "$(dirname "$0")/lib.sh"
need_real 3

# measure NAME APPS...: run apps with the tool; collect what they write in $tmp/NAME.
measure() {
    local name=$1
    shift
    mkdir -p "$tmp/$name" &&
        timeout -k 5 170 "$sxsprof" run --quiet --tool gc -o "$tmp/$name/s" -- "$runsxs" --timeout 160 "$@" \
            >"$tmp/log" 2>&1 &&
        "$sxsprof" report --format json "$tmp/$name/s" >"$tmp/$name/s.json" 2>>"$tmp/log"
}
same() { # CLAIM NAME WORD: gc_expected.py compares WORD
    python3 tests/integration/gc_expected.py "$tmp/$2" "$3" >"$tmp/said" 2>&1
    check "$1" $? "$tmp/said"
}
all_same() { # NAME
    same "$1: each collection has the generation, reason and mode that its runtime names" "$1" kinds
    same "$1: bytes promoted, sizes and fragmentation of every generation are the runtime's, to the last byte" "$1" bytes
    same "$1: pinned objects and objects to finalize are the runtime's" "$1" objects
    same "$1: pauses are the runtime's, without the time that resuming takes" "$1" pauses
    same "$1: all finalizers that ran were counted" "$1" finalizers
}

for v in 8 9 10; do
    measure "$v" "$v" collections "out=$tmp/$v/out.$v rounds=3 objects=100000"
    check "$v alone: the run ends with status 0 and can be reported" $? "$tmp/log"
    all_same "$v"
done

app() { echo "out=$tmp/three/out.$1 rounds=3 objects=50000 force=$2 meet=$tmp/three/meet:3"; }
measure three 8 collections "$(app 8 1)" 9 collections "$(app 9 2)" 10 collections "$(app 10 3)"
check "three at once: the run ends with status 0 and can be reported" $? "$tmp/log"
all_same three
same "three at once: a collection that another runtime's thread forces is in the chosen runtime, and nowhere else" \
    three forced

export DOTNET_gcServer=1 DOTNET_GCHeapCount=2
measure server 8 collections "$(app 8 0 | sed 's,three,server,g;s,meet=[^ ]*,,;s,force=0,,')" \
    9 collections "out=$tmp/server/out.9 rounds=3" 10 collections "out=$tmp/server/out.10 rounds=3"
check "server GC: the run ends with status 0 and can be reported" $? "$tmp/log"
all_same server
same "server GC: it was on" server server
unset DOTNET_gcServer DOTNET_GCHeapCount

export DOTNET_gcConcurrent=0
measure blocking 8 collections "out=$tmp/blocking/out.8" 9 collections "out=$tmp/blocking/out.9" \
    10 collections "out=$tmp/blocking/out.10"
check "without concurrent GC: the run ends with status 0 and can be reported" $? "$tmp/log"
all_same blocking
same "without concurrent GC: no collection is one of the background" blocking blocking
unset DOTNET_gcConcurrent

measure force 9 collections "out=$tmp/force/out.9 force=77"
grep -q '"forced": -3,' "$tmp/force/out.9"
check "forcing a collection in a runtime that is not there fails with ESRCH" $? "$tmp/force/out.9"

# Collections of generations 0 and 1 during background collections.
export DOTNET_GCgen0size=100000
measure churn 8 collections "out=$tmp/churn/out.8 churn=10 rounds=0 objects=300000" \
    9 collections "out=$tmp/churn/out.9 churn=10 rounds=0 objects=300000" \
    10 collections "out=$tmp/churn/out.10 churn=10 rounds=0 objects=300000"
check "background collections: the run ends with status 0 and can be reported" $? "$tmp/log"
same "background collections: each has two pauses, and foreground ones are within them" churn churn
unset DOTNET_GCgen0size

# The same events come once for each session that enables them: on 8 and 9, the tool alloc has a session of its
# own with the same events.
mkdir "$tmp/twice" &&
    timeout -k 5 100 "$sxsprof" run --quiet --tool alloc --tool gc --tool events --tool locks -o "$tmp/twice/s" -- \
        "$runsxs" --timeout 90 8 collections "out=$tmp/twice/out.8 rounds=3" 9 collections "out=$tmp/twice/out.9 rounds=3" \
        >"$tmp/log" 2>&1 &&
    "$sxsprof" report --format json "$tmp/twice/s" >"$tmp/twice/s.json" 2>>"$tmp/log"
check "beside other tools with such events: the run ends with status 0 and can be reported" $? "$tmp/log"
all_same twice

# The text, and the time line.
"$sxsprof" report "$tmp/9/s" >"$tmp/text" 2>&1
check "the text report is written" $? "$tmp/text"
grep -q '^collections: 2[0-9] \[9\.' "$tmp/text" && grep -q 'generation 2' "$tmp/text" &&
    grep -q 'reasons: .*induced, compacting' "$tmp/text" && grep -q 'finalizers: ' "$tmp/text"
check "the text report has collections by generation, their reasons and finalizers" $? "$tmp/text"
"$sxsprof" report --format chrome "$tmp/9/s" >"$tmp/trace" 2>"$tmp/log" &&
    [ "$(grep -c '"cat":"gc"' "$tmp/trace")" -eq "$(jsonq "$tmp/9/s.json" 'r[0]["gcs"]')" ]
check "the trace has as many collections as the table of runtimes" $? "$tmp/log"

! grep -q 'not listed: ' "$tmp/text"
check "all collections that the runtime counted are listed" $? "$tmp/text"
timeout -k 5 100 "$sxsprof" record gc,heap:at-exit --quiet -o "$tmp/atexit" -- "$runsxs" --timeout 90 9 collections "rounds=3" \
    >"$tmp/log" 2>&1 && "$sxsprof" report "$tmp/atexit" >"$tmp/text" 2>&1 &&
    grep -q '^  not listed: [1-9] more that \[9\.' "$tmp/text"
check "a collection that the heap snapshot forces at the end is not among those of the program, which a line says" $? "$tmp/text"

# The file is complete at every moment.
timeout -k 5 100 "$sxsprof" run --quiet --tool gc -o "$tmp/killed" -- "$runsxs" --timeout 90 \
    9 collections "rounds=100000 objects=1000" >"$tmp/log" 2>&1 &
run=$!
ten() { "$sxsprof" report --format json "$tmp/killed" 2>/dev/null | grep -c '"compacting"' | grep -q '..'; }
wait_until ten
kill -KILL "$(basename "$tmp"/killed/[0-9]*)"
wait "$run" 2>"$tmp/log"
"$sxsprof" report --format json "$tmp/killed" >"$tmp/killed.json" 2>"$tmp/log" &&
    python3 - "$tmp/killed.json" >>"$tmp/log" 2>&1 <<'E2'
import json, sys
gcs = json.load(open(sys.argv[1]))["collections"]
assert [g["number"] for g in gcs] == list(range(1, len(gcs) + 1)), [g["number"] for g in gcs]
assert all("duration_ns" in g and g["pause_ns"] for g in gcs[:-1]), gcs
E2
check "a killed process leaves all its collections" $? "$tmp/log"
finish
