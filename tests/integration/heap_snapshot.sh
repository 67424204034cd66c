# SPDX-License-Identifier: MIT
# heap_snapshot.sh - takes heap snapshots of real runtimes whose programs keep known objects, and compares them
# with an independent reader: one runtime and three, with and without collections, at exit, with a full disk,
# with a killed process, and while assemblies are unloaded.
. "$(dirname "$0")/lib.sh"
need_real 3
signal=59 # RTMAX-5

is_ended() { # FILE: whether the snapshot has ended, complete or not
    [ -e "$1" ] && python3 - "$1" <<'E2'
import struct, sys
head = open(sys.argv[1], "rb").read(64)
sys.exit(0 if len(head) == 64 and (struct.unpack_from("<Q", head, 40)[0] or struct.unpack_from("<I", head, 56)[0]) else 1)
E2
}
has_files() { local f; for f in "$@"; do [ -e "$f" ] || return 1; done; }
# take OPTIONS ARGUMENTS-OF-RUNSXS...: run apps, which create ready.N and wait for the file "until"; take one
# snapshot by the signal when all are ready. Sets $snapshot and $status.
take() {
    local options=$1 pid waiting
    shift
    rm -rf "$tmp/s" "$tmp/until"
    timeout -k 5 170 "$sxsprof" run --quiet --tool "heap$options" -o "$tmp/s" -- "$runsxs" --timeout 160 "$@" \
        >"$tmp/log" 2>&1 &
    waiting=$!
    wait_until has_files $ready
    pid=$(basename "$tmp"/s/*)
    snapshot=$tmp/s/$pid/heap-1
    kill -$signal "$pid"
    wait_until is_ended "$snapshot"
    : >"$tmp/until"
    wait $waiting
    status=$?
}
built="keep:small=1000 keep:node=500 keep:generic=40 keep:shared=30 keep:pair=20 keep:inner=11 keep:innergeneric=12
 keep:matrix=13 keep:large=3 keep:pinnedheap=4 keep:pinned=5 keep:handle=6 keep:weak=7 keep:finalizable=8
 keep:boxed=9 keep:dependent=10 keep:ring=15 drop:big=2000 drop:medium=700 threads=2 static"
built=$(echo $built)
ready=$tmp/ready.1
objects="n('Memory.Small') == 1000 and size('Memory.Small') == 24000 and n('Memory.Node') == 500"
generic="n('Memory.Holder<System.Int32>') == 40 and n('Memory.Holder<System.String>') == 30 and n('Memory.Pair<System.String, Memory.Holder<System.Int64[]>>') == 20 and n('Memory.Outer+Inner') == 11 and n('Memory.Outer+Inner<System.Double>') == 12"
arrays="n('System.Int16[,]') == 13 and size('System.Int16[,]') == 13 * 464 and n('Memory.Small[]') == 1 and size('Memory.Small[]') == 8024"
others="n('Memory.Point') == 9 and n('Memory.Finalizable') == 8 and n('Memory.Ring') == 15"
for version in $versions; do
    for options in "" ":frames=on"; do
        rm -f "$ready"
        take "$options" "$version" memory "$built ready=$ready until=$tmp/until"
        check "$version, heap$options: the program ends as without" $status "$tmp/log"
        python3 tests/integration/heap_expected.py "$snapshot" "$objects" "$generic" "$arrays" "$others" \
            "n('Memory.Big') == 0 and n('Memory.Medium') == 0" >"$tmp/said" 2>&1
        check "$version, heap$options: objects and bytes of all types are exact, garbage is gone" $? "$tmp/said"
        python3 tests/integration/heap_expected.py "$snapshot" \
            "roots('Memory.Handled', 'handle', 0) == 6 and roots('Memory.Handled', 'handle', 2) == 0" \
            "n('Memory.Handled') == 6 and roots('System.UInt16[]', 'handle', 1) == 5" \
            "named('Memory.Roots.Static') == ['Memory.Single'] and n('Memory.Single') == 1" \
            "roots('Memory.OnStack', 'stack') >= 2 and n('Memory.OnStack') == 2" \
            "len(r.dependent) == 10 and all(r.type_of(a) == 'Memory.Key' and r.type_of(b) == 'Memory.Dependent' for a, b, _ in r.dependent)" \
            >"$tmp/said" 2>&1
        check "$version, heap$options: handles, pinned and dependent ones, stacks and static fields" $? "$tmp/said"
        python3 tests/integration/heap_expected.py "$snapshot" \
            "reached('Memory.Roots.Kept')['Memory.Node'] == 500 and reached('Memory.Roots.Kept')['Memory.Ring'] == 15" \
            "reached('Memory.Roots.Kept')['Memory.Small'] == 1000 and reached('Memory.Roots.Kept')['Memory.Point'] == 9" \
            >"$tmp/said" 2>&1
        check "$version, heap$options: the references lead from the static field to what it keeps" $? "$tmp/said"
        python3 tests/integration/heap_expected.py "$snapshot" \
            "flags('Memory.Finalizable') & 4 and not flags('Memory.Small') & 4 and flags('System.String') & 2" \
            "flags('System.Int16[,]') & 1 and flags('Memory.Point') & 32 and not flags('Memory.Small') & 48" \
            "sum(1 for a, o in r.objects.items() if r.generation(a) == 3) == 3" \
            "sum(1 for a, o in r.objects.items() if r.type_of(a) == 'System.Byte[]' and r.generation(a) == 4) == 4" \
            "generations('Memory.Small') <= {1, 2} and 5 in generations('System.String')" >"$tmp/said" 2>&1
        check "$version, heap$options: finalizable, arrays, values; large, pinned and frozen objects" $? "$tmp/said"
    done
    python3 tests/integration/heap_expected.py "$snapshot" \
        "'Memory.OnStack' in named('Memory.Roots.Hold(System.Threading.CountdownEvent)')" \
        "r.end['pause_ns'] > 0 and r.end['lacking'] == 0" >"$tmp/said" 2>&1
    check "$version: with frames=on, roots on stacks have the names of their functions" $? "$tmp/said"
    rm -f "$ready"
    take "" "$version" memory "keep:small=1000 ready=$ready until=$tmp/until"
    "$sxsprof" report --format json "$tmp/s" >"$tmp/said" && grep -q '"gcs": 1,' "$tmp/said"
    check "$version: the program is stopped by one collection for a snapshot" $? "$tmp/said"
done

# Other collectors: on server heaps, and without concurrent collections, where callbacks are used in any case.
for setting in DOTNET_gcServer=1 DOTNET_gcConcurrent=0; do
    rm -f "$ready"
    export "$setting"
    take "" 9 memory "$built ready=$ready until=$tmp/until"
    unset DOTNET_gcServer DOTNET_gcConcurrent
    check "$setting: the program ends as without" $status "$tmp/log"
    python3 tests/integration/heap_expected.py "$snapshot" "$objects" "$generic" "$arrays" "$others" \
        "('Memory.OnStack' in named('Memory.Roots.Hold(System.Threading.CountdownEvent)')) == ('$setting' == 'DOTNET_gcConcurrent=0')" >"$tmp/said" 2>&1
    check "$setting: objects and bytes are exact" $? "$tmp/said"
done

# Three runtimes in one process, in one file.
ready="$tmp/three.1 $tmp/three.2 $tmp/three.3"
three() { # COUNT FILE: words of an app
    echo "keep:small=$1 keep:ring=$1 static ready=$2 until=$tmp/until"
}
take "" 8 memory "$(three 100 "$tmp/three.1")" 9 memory "$(three 200 "$tmp/three.2")" \
    10 memory "$(three 300 "$tmp/three.3")"
check "three runtimes end as without" $status "$tmp/log"
python3 tests/integration/heap_expected.py "$snapshot" "len(s.runtimes) == 3" \
    "n('Memory.Small') == n('Memory.Ring') == {'8': 100, '9': 200, '1': 300}[r.version[0]]" \
    "named('Memory.Roots.Static') == ['Memory.Single']" >"$tmp/said" 2>&1
check "three runtimes are in one snapshot, each with its own objects" $? "$tmp/said"

# Without a collection.
rm -f "$tmp"/three.*
take ":collect=off" 8 memory "$(three 100 "$tmp/three.1")" 9 memory "$(three 200 "$tmp/three.2")" \
    10 memory "$(three 300 "$tmp/three.3")"
python3 tests/integration/heap_expected.py "$snapshot" \
    "r.how == (1 if r.version[0] == '8' else 2)" \
    "n('Memory.Small') == n('Memory.Ring') == {'8': 100, '9': 200, '1': 300}[r.version[0]]" \
    "named('Memory.Roots.Static') == ['Memory.Single'] and (r.version[0] == '8') == (r.end['lacking'] & 1 == 0)" \
    >"$tmp/said" 2>&1 && [ "$(grep -c 'without a collection: it collects' "$tmp/log")" = 1 ]
check "collect=off reads 9 and 10 without a collection, and says that 8 cannot" $? "$tmp/said"

# At exit: each runtime when its program ends.
rm -rf "$tmp/s"
timeout -k 5 100 "$sxsprof" run --quiet --heap-at-exit -o "$tmp/s" -- "$runsxs" --timeout 90 \
    8 memory "keep:small=100 static sleep=600" 9 memory "keep:small=200 static" 10 memory "keep:small=300 static" \
    >"$tmp/log" 2>&1
check "--heap-at-exit: the programs end as without" $? "$tmp/log"
python3 tests/integration/heap_expected.py "$tmp"/s/*/heap-1 "len(s.runtimes) == 3 and s.trigger == 3" \
    "n('Memory.Small') == {'8': 100, '9': 200, '1': 300}[r.version[0]]" \
    "named('Memory.Roots.Static') == ['Memory.Single']" >"$tmp/said" 2>&1
check "--heap-at-exit: one snapshot has every runtime at the end of its program" $? "$tmp/said"

# now, and at intervals.
rm -rf "$tmp/s"
timeout -k 5 100 "$sxsprof" run --quiet --tool heap:now,repeat=1 -o "$tmp/s" -- "$runsxs" --timeout 90 \
    9 memory "keep:small=100 sleep=2500" >"$tmp/log" 2>&1
check "now and repeat=1: the program ends as without" $? "$tmp/log"
python3 tests/integration/heap_expected.py "$tmp"/s/*/heap-1 "s.trigger == 4 and n('System.String') > 10" >"$tmp/said" 2>&1 &&
    python3 tests/integration/heap_expected.py "$tmp"/s/*/heap-2 "s.trigger == 2 and n('Memory.Small') == 100" >"$tmp/said" 2>&1
check "the first snapshot is of the beginning, others follow" $? "$tmp/said"

# No room: one line, the program runs on, and what fits can be read.
rm -rf "$tmp/s" "$tmp/ready"
(ulimit -f 2048
    export DOTNET_EnableWriteXorExecute=0 # the runtime's own memory file is larger than this
    timeout -k 5 100 "$sxsprof" run --quiet --heap-at-exit -o "$tmp/s" -- "$runsxs" --timeout 90 \
        9 memory "keep:small=2000000" >"$tmp/log" 2>&1)
check "a file that cannot grow: the program ends as without" $? "$tmp/log"
[ "$(grep -c 'heap snapshot 1 is incomplete' "$tmp/log")" = 1 ] && python3 - "$tmp"/s/*/heap-1 >"$tmp/said" 2>&1 <<'E2'
import sys
sys.path.insert(0, "tests/integration")
import heap_read
s = heap_read.Snapshot(sys.argv[1])
assert s.error and not s.ended and len(s.runtimes[1].objects) > 1000 and s.runtimes[1].end is None, (s.error, s.ended)
E2
check "one line says that the snapshot is incomplete, and its objects can be read" $? "$tmp/log"

# The process is killed in the middle.
ready=$tmp/killed
rm -rf "$tmp/s"
"$sxsprof" run --quiet --tool heap -o "$tmp/s" -- "$runsxs" --timeout 90 9 memory \
    "keep:small=3000000 ready=$ready until=$tmp/never" >"$tmp/log" 2>&1 &
waiting=$!
wait_until has_files "$ready"
pid=$(basename "$tmp"/s/*)
kill -$signal "$pid"
grew() { [ "$(stat -c %s "$tmp/s/$pid/heap-1" 2>/dev/null || echo 0)" -gt 2000000 ]; }
wait_until grew
kill -9 "$pid"
wait $waiting 2>"$tmp/killed.log" # bash says that it was killed
python3 - "$tmp/s/$pid/heap-1" >"$tmp/said" 2>&1 <<'E2'
import sys
sys.path.insert(0, "tests/integration")
import heap_read
s = heap_read.Snapshot(sys.argv[1])
assert not s.error and s.used <= 1 << 30 and len(s.runtimes[1].objects) > 1000
E2
check "a process that is killed meanwhile leaves what was written" $? "$tmp/said"

# Programs that unload assemblies, and that collect, without end.
snapshots_meanwhile() { # VERSION WHAT ARGUMENTS-OF-RUNSXS...
    local version=$1 what=$2 waiting pid file
    shift 2
    rm -rf "$tmp/s"
    timeout -k 5 100 "$sxsprof" run --quiet --tool heap -o "$tmp/s" -- "$runsxs" --timeout 90 "$version" "$@" \
        >"$tmp/log" 2>&1 &
    waiting=$!
    while kill -0 $waiting 2>/dev/null; do
        pid=$(ls "$tmp/s" 2>/dev/null)
        grep -q . "/proc/$pid/maps" 2>/dev/null && [ -e "$tmp/s/$pid/census" ] &&
            grep -q System.Private.CoreLib "/proc/$pid/maps" && kill -$signal "$pid" 2>/dev/null
        sleep 0.05
    done
    wait $waiting
    check "$version: snapshots while $what: the program ends as without" $? "$tmp/log"
    : >"$tmp/wrong"
    for file in "$tmp"/s/*/heap-*; do
        is_ended "$file" || continue
        python3 tests/integration/heap_expected.py "$file" "1" >"$tmp/said" 2>&1 && continue
        # While the runtime begins it refuses, and before and after that there is none to be listed.
        grep -q "r.end\['status'\]\|^AssertionError: no runtimes" "$tmp/said" || cat "$tmp/said" >>"$tmp/wrong"
    done
    [ ! -s "$tmp/wrong" ]
    check "$version: each of the snapshots while $what is consistent" $? "$tmp/wrong"
}
for version in $versions; do
    snapshots_meanwhile "$version" "assemblies are unloaded" unloads "contexts=150 dynamic=150 threads=2"
    # Objects outside of the collected heap were listed twice when a collection ran while they were asked for.
    snapshots_meanwhile "$version" "the program collects" collections "rounds=10 objects=100 wide=20000000 out=$tmp/collections"
done

# Wrong options.
"$sxsprof" run --tool heap:signal=SEGV -- true >"$tmp/log" 2>&1
[ $? -eq 2 ] && grep -q 'expected USR1, USR2, RTMIN+2 to RTMAX, or off' "$tmp/log"
check "a signal that runtimes use is refused" $? "$tmp/log"
finish
