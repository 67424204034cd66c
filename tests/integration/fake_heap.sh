# SPDX-License-Identifier: MIT
# fake_heap.sh - takes heap snapshots of simulated runtimes, also under sanitizers: while they collect, load and
# unload modules, make objects, detach the profiler and end.
. "$(dirname "$0")/lib.sh"
export FAKECLR_STRICT=1
preload=$([ "$SAN" = thread ] && echo --no-preload)
[ "$SAN" = thread ] && export FAKECLR_SIGNALS=off

# read_all FOLDER EXPRESSION: whether EXPRESSION is true for each runtime r of each snapshot s
read_all() {
    python3 - "$1" "$2" <<'E2'
import glob, sys
sys.path.insert(0, "tests/integration")
import heap_read
files = glob.glob(sys.argv[1] + "/*/heap-*")
assert files, "no snapshots"
n = 0
for file in files:
    s = heap_read.Snapshot(file)
    for r in s.runtimes.values():
        n += 1
        if not eval(sys.argv[2]):
            sys.exit("%s %s: not so: %s\n%s" % (file, r.version, sys.argv[2], r.end))
assert n, "no runtimes"
E2
}

rm -rf "$tmp/s"
timeout -k 5 100 "$sxsprof" run --quiet $preload --tool heap:repeat=1 -o "$tmp/s" -- "$runsxs" --timeout 80 \
    fake:8.0 "!objects 5000; sleep-ms 1500" "" fake:9.0 "!objects 300; sleep-ms 1500" "" \
    fake:10.0 "!objects 20000; sleep-ms 1500" "" >"$tmp/log" 2>&1
check "three simulated runtimes end as without" $? "$tmp/log"
read_all "$tmp/s" "len(r.objects) == {'8': 5000, '9': 300, '1': 20000}[r.version[0]] and r.end['status'] == 0" >"$tmp/said" 2>&1
check "each snapshot has every object of each of them" $? "$tmp/said"
read_all "$tmp/s" "sum(len(o[2]) for o in r.objects.values()) == len(r.objects) - 1 and all(x in r.objects for o in r.objects.values() for x in o[2])" >"$tmp/said" 2>&1
check "each object but the first refers to the one before" $? "$tmp/said"
read_all "$tmp/s" "sorted((k, i) for k, f, o, i, n in r.roots) == [('handle', 0x1234), ('stack', 0)] and all(o in r.objects for k, f, o, i, n in r.roots)" >"$tmp/said" 2>&1
check "roots have their kinds and numbers" $? "$tmp/said"
read_all "$tmp/s" "r.end['types'] == len(r.types) == 1 and r.end['objects'] == len(r.objects)" >"$tmp/said" 2>&1
check "types and counts agree" $? "$tmp/said"

# Everything at once, at changing times: collections, unloads, new objects, detach, the end.
bad=0
for delay in 0 150 300 450; do
    rm -rf "$tmp/s"
    timeout -k 5 100 "$sxsprof" run --quiet $preload --tool heap:repeat=1,now,at-exit -o "$tmp/s" -- "$runsxs" --timeout 80 \
        fake:8.0 "!objects 2000; gc 30; sleep-ms $((800 + delay)); gc 60; objects 1000; gc 30" "" \
        fake:9.0 "!objects 3000; work module 3; work collectible 2; sleep-ms $((700 + delay)); work churn 20 2; gc 30" "" \
        fake:10.0 "!objects 5000; sleep-ms $((900 + delay)); gc 20; detach" "" >"$tmp/log" 2>&1 &&
        read_all "$tmp/s" "r.end is None or r.end['objects'] == len(r.objects)" >>"$tmp/log" 2>&1 || { bad=1; break; }
done
check "snapshots among collections, unloads, detach and ends do no harm" $bad "$tmp/log"
finish
