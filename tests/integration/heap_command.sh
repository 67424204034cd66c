# SPDX-License-Identifier: MIT
# heap_command.sh - checks sxsprof heap PID on real runtimes: snapshots of a running process, what keeps objects
# of known types, and what has grown.
. "$(dirname "$0")/lib.sh"
need_real 3
[ -e "$BUILD/managed/memory/memory.dll" ] || skip_all "$0" "the app memory is not built"

words() { # FILE: of one runtime
    echo "keep:node=1000 keep:generic=500 keep:finalizable=30 keep:dependent=40 keep:handle=10 keep:ring=100" \
        "keep:pinned=20 keep:common=3 keep:fields=1 threads=2 static ready=$1 until=$tmp/go1 keep:node=700 ready=$1.more until=$tmp/go2"
}
timeout -k 5 170 "$sxsprof" run --quiet --tool heap -o "$tmp/s" -- "$runsxs" --timeout 160 8 memory "$(words "$tmp/r8")" \
    9 memory "$(words "$tmp/r9")" 10 memory "$(words "$tmp/r10")" >"$tmp/log" 2>&1 &
run=$!
all_exist() { for f; do [ -e "$f" ] || return 1; done; }
wait_until all_exist "$tmp/r8" "$tmp/r9" "$tmp/r10"
check "three runtimes keep their objects" $? "$tmp/log"
pid=$(basename "$tmp"/s/*)

timeout 100 "$sxsprof" heap --format json -o "$tmp/one.json" "$pid" >"$tmp/said" 2>&1
check "sxsprof heap PID takes a snapshot and reports it" $? "$tmp/said"

says() { # CLAIM FILE EXPRESSION: in Python, for each runtime; n(TYPE) and t(TYPE) are of its types
    python3 - "$2" "$3" >"$tmp/said" 2>&1 <<'E2'
import json, re, sys
d = json.load(open(sys.argv[1]))
assert len({t["runtime"] for t in d["heap"]}) == 3, d.get("runtimes")
for r in sorted({t["runtime"] for t in d["heap"]}):
    types = {t["type"]: t for t in d["heap"] if t["runtime"] == r}
    t = lambda name: types["Memory." + name]
    n = lambda name: t(name)["objects"]
    paths = [p for p in d.get("paths", []) if p["runtime"] == r]
    if not eval(sys.argv[2], dict(globals(), n=n, t=t, types=types, paths=paths, r=r)):
        sys.exit("not so in runtime %d: %s\n%s\n%s" % (r, sys.argv[2], paths,
            [v for v in types.values() if v["type"].startswith("Memory.")]))
E2
    check "$1" $? "$tmp/said"
}
says "the objects of known types, to the last one" "$tmp/one.json" \
    "[n(k) for k in ('Node', 'Holder<System.Int32>', 'Finalizable', 'Key', 'Dependent', 'Handled', 'Ring', 'Single')] == [1000, 500, 30, 40, 40, 10, 100, 1]"
says "finalizable types and pinned objects are marked" "$tmp/one.json" \
    "t('Finalizable')['finalizable'] and not t('Node')['finalizable'] and sum(v['pinned_objects'] for v in types.values()) >= 20"
says "an array keeps its elements" "$tmp/one.json" \
    "t('Holder<System.Int32>[]')['retained_bytes'] == t('Holder<System.Int32>[]')['bytes'] + t('Holder<System.Int32>')['bytes']"

says "objects of a type that share an array keep it together" "$tmp/one.json" \
    "n('Sharer') == 3 and t('Sharer')['retained_bytes'] >= 10000000 and t('Sharer')['bytes'] < 200"
timeout 100 "$sxsprof" heap --snapshot 1 --format json -o "$tmp/first.json" "$tmp/s" 2>"$tmp/said" &&
    timeout 100 python3 tests/integration/heap_retained.py "$tmp/s/$pid/heap-1" "$tmp/first.json" >"$tmp/said" 2>&1
check "retained bytes of types and roots: what is no longer reached without them" $? "$tmp/said"

paths_of() { timeout 100 "$sxsprof" heap --format json --type "Memory.$1" -o "$tmp/paths.json" "$tmp/s"; }
paths_of Single
says "--type: an object of a static field, by its name" "$tmp/paths.json" \
    "[p['steps'] for p in paths] == [['Memory.Single', 'Memory.Roots.Static', 'static field']]"
paths_of Held
says "--type: an object of a static field of a value type, by its name" "$tmp/paths.json" \
    "[p['steps'] for p in paths] == [['Memory.Held', 'Memory.Holding', 'Memory.Roots.Value', 'static field']]"
says "--type: a field of a struct has its name, roots have none" "$tmp/paths.json" \
    "[p['fields'] for p in paths] == [[None, 'It', None, None]]"
paths_of PerThread
says "--type: objects of a thread-static field, by its name and that of the thread" "$tmp/paths.json" \
    "len(paths) == 2 and {re.sub('thread [0-9]+', 'thread N', ' '.join(p['steps'])) for p in paths} == {'Memory.PerThread Memory.Roots.perThread (thread N holder %d) thread-static field' % k for k in (0, 1)}"
paths_of Handled
says "--type: objects that handles keep" "$tmp/paths.json" \
    "sum(p['objects'] for p in paths) == 10 and all(p['steps'] == ['Memory.Handled', 'strong handle'] for p in paths)"
paths_of Dependent
says "--type: objects that dependent handles keep, by their keys" "$tmp/paths.json" \
    "sum(p['objects'] for p in paths) == 40 and all(p['steps'][:3] == ['Memory.Dependent', 'Memory.Key', 'Memory.Key[]'] and p['steps'][-2:] == ['Memory.Roots.Kept', 'static field'] for p in paths)"
# has_path TYPE: the text has the path on standard input
has_path() {
    timeout 100 "$sxsprof" heap --type "$1" --top 999 --snapshot 1 "$tmp/s" 2>&1 | sed 's/ (a list by .*//' >"$tmp/text"
    python3 -c 'import sys
text, path = open(sys.argv[1]).read(), sys.stdin.read()
sys.exit(0 if text.count(path) == 3 else "%d of 3 times:\n%s\nin\n%s" % (text.count(path), path, text))' "$tmp/text" \
        >"$tmp/said" 2>&1
}
list="System.Collections.Generic.List<System.Object>"
has_path "Memory.Fields" <<E2
    Memory.Fields
    <- System.Object[] [0]
    <- $list._items
    <- static field Memory.Roots.Kept
E2
check "a path names the fields and the elements that it goes through" $? "$tmp/said"
bad=0
for fields in "_first" "_second" "_five[0]" "Property" "_boxed|Memory.Inner.A" "_leaf.Pair.key" "_tuple.Item1" "_tuple.Item3" \
    "_leaves|Memory.Leaf[] [*]" "_structs|Memory.Inner[] [*].A" "_wide|Memory.Around<Memory.Leaf>[] [0].In.B" \
    "_square|Memory.Leaf[,] [*]" "_structSquare|Memory.Inner[,] [*].B" "_inners.Item.A" "_maybe.value.B"; do
    { case $fields in *"|"*) echo "    <- ${fields#*|}" ;; esac; echo "    <- Memory.Fields.${fields%%|*}"; } |
        has_path "Memory.Leaf" || { echo "$fields"; head -3 "$tmp/said"; bad=1; }
done >"$tmp/wrong"
check "inherited fields, fields of structs and of elements, inline arrays" $bad "$tmp/wrong"
timeout 100 "$sxsprof" heap --type "Memory.Ring" --snapshot 1 "$tmp/s" >"$tmp/text" 2>&1
[ "$(grep -c '^    Memory.Node (a list by Next)$' "$tmp/text")" = 0 ] && timeout 100 "$sxsprof" heap --type "Memory.Node" --snapshot 1 "$tmp/s" >"$tmp/text" 2>&1 &&
    [ "$(grep -c '^    Memory.Node (a list by Next)$' "$tmp/text")" = 3 ]
check "a list has the field by which it goes on" $? "$tmp/text"
timeout 100 "$sxsprof" heap --snapshot 1 --format html -o "$tmp/page.html" "$tmp/s" 2>"$tmp/said" &&
    grep -q ',"._leaves"\]' "$tmp/page.html" && grep -q '," \[0\]"' "$tmp/page.html"
check "the page has them" $? "$tmp/said"

# A file of version 1 has no fields; all else is the same.
cp -r "$tmp/s" "$tmp/old"
printf '\1' | dd of="$tmp/old/$pid/heap-1" bs=1 seek=8 conv=notrunc 2>"$tmp/said"
timeout 100 "$sxsprof" heap --snapshot 1 "$tmp/s" >"$tmp/now" 2>&1; timeout 100 "$sxsprof" heap --snapshot 1 "$tmp/old" >"$tmp/then" 2>&1
cmp "$tmp/now" "$tmp/then" >"$tmp/said" 2>&1
check "a snapshot of the format before is read" $? "$tmp/said"

touch "$tmp/go1"
wait_until all_exist "$tmp/r8.more" "$tmp/r9.more" "$tmp/r10.more"
timeout 100 "$sxsprof" heap --diff 1 --format json -o "$tmp/diff.json" "$pid" >"$tmp/said" 2>&1
check "sxsprof heap --diff 1 PID takes one more snapshot" $? "$tmp/said"
says "what has grown, to the last object" "$tmp/diff.json" \
    "n('Node') == 1700 and t('Node')['objects_before'] == 1000 and not types.keys() & {'Memory.Ring', 'Memory.Key', 'Memory.Single', 'Memory.Handled'}"
says "types that did not change are counted, and have no rows" "$tmp/diff.json" \
    "d['all_types']['unchanged'] > 3 * 4 and all(v['objects'] != v['objects_before'] or v['bytes'] != v['bytes_before'] for v in types.values())"
touch "$tmp/go2"
wait $run
check "the program was not disturbed" $? "$tmp/log"
"$sxsprof" heap "$pid" >"$tmp/said" 2>&1
[ $? -eq 2 ] && grep -q "no such process" "$tmp/said"
check "a process that has ended is refused" $? "$tmp/said"

# A process with the library, but without the tool
timeout -k 5 100 "$sxsprof" run --quiet --tool sample -o "$tmp/s2" -- "$runsxs" --timeout 90 \
    8 memory "ready=$tmp/r until=$tmp/go3" >"$tmp/log" 2>&1 &
run=$!
wait_until all_exist "$tmp/r"
"$sxsprof" heap "$(basename "$tmp"/s2/*)" >"$tmp/said" 2>&1
[ $? -eq 2 ] && grep -q "no signal asks it for a heap snapshot" "$tmp/said"
check "a process without the tool is refused, and lives on" $? "$tmp/said"
touch "$tmp/go3"
wait $run
check "it ends as it should" $? "$tmp/log"
finish
