# SPDX-License-Identifier: MIT
# heap_clrmd.sh - compares heap snapshots of three runtimes with what ClrMD reads from a core dump of the same
# process: types, objects, bytes, and the fields of all references.
. "$(dirname "$0")/lib.sh"
need_real 3
command -v gcore >/dev/null || skip_all "$0" "no gcore here (package gdb)"
sh setup/clrmd.sh --present build/tools >"$tmp/log" 2>&1
clrmd=build/tools/clrmd/clrmd.dll
[ -e "$clrmd" ] || skip_all "$0" "the reader of dumps is not here; make setup builds it"

kinds="keep:small=3000 keep:node=2000 keep:generic=1000 keep:shared=1000 keep:pair=1000 keep:inner=1000 \
keep:innergeneric=1000 keep:bytes=500 keep:ints=500 keep:matrix=300 keep:jagged=300 keep:string=2000 keep:large=5 \
keep:pinnedheap=100 keep:pinned=100 keep:handle=100 keep:finalizable=500 keep:boxed=1000 keep:dependent=100 \
keep:ring=1000 keep:big=50 keep:fields=60"
app() { echo "$kinds ready=$tmp/ready.$1 until=$tmp/until"; }

"$sxsprof" run --quiet --tool heap -o "$tmp/s" -- "$runsxs" --timeout 300 \
    8 memory "$(app 8)" 9 memory "$(app 9)" 10 memory "$(app 10)" >"$tmp/log" 2>&1 &
run=$!
are_ready() { [ -e "$tmp/ready.8" ] && [ -e "$tmp/ready.9" ] && [ -e "$tmp/ready.10" ]; }
wait_until are_ready
check "three runtimes keep objects of each kind" $? "$tmp/log"
pid=$(basename "$tmp"/s/[0-9]*)

# The first snapshot makes the runtime's own event source allocate.
"$sxsprof" heap --format json -o "$tmp/first" "$pid" 2>"$tmp/log" &&
    "$sxsprof" heap --format json -o "$tmp/snapshot" "$pid" 2>>"$tmp/log"
check "snapshots are taken" $? "$tmp/log"
echo 0x7f >"/proc/$pid/coredump_filter" # mapped assemblies, too, which have the names of types
gcore -o "$tmp/core" "$pid" >"$tmp/log" 2>&1 && [ -e "$tmp/core.$pid" ]
check "a core dump is written" $? "$tmp/log"
touch "$tmp/until"
wait "$run"
check "the program ends with status 0" $? "$tmp/log"

timeout 170 dotnet "$clrmd" "$tmp/core.$pid" "$tmp/edges" >"$tmp/clrmd" 2>"$tmp/log"
check "ClrMD reads every runtime of the dump" $? "$tmp/log"
rm -f "$tmp/core.$pid"
python3 tests/integration/heap_clrmd.py "$tmp/snapshot" "$tmp/clrmd" >"$tmp/said" 2>&1
check "types, objects and bytes are those that ClrMD reads; every difference is explained" $? "$tmp/said"
python3 tests/integration/heap_fields.py "$tmp/s/$pid/heap-2" "$tmp/snapshot" "$tmp/edges" >"$tmp/said" 2>&1
check "each reference has the field or the element that ClrMD gives it" $? "$tmp/said"
rm -f "$tmp"/core*
finish
