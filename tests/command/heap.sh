#!/bin/bash
# SPDX-License-Identifier: MIT
# heap.sh - checks sxsprof heap: every format of snapshots with known graphs, differences, damage, refusals.
cd "$(dirname "$0")/../.." || exit 1
. tests/command/common.inc
$CC -std=gnu11 -D_GNU_SOURCE -O1 -g -I. tests/profile/make_heap.c -o "$T/make_heap" || exit 1
S=$T/session
"$T/make_heap" "$S" 1 known
"$T/make_heap" "$S" 2 grown

# lines FROM TO: the lines of $out from the first that matches FROM to the next that matches TO
lines() { sed -n "/$1/,/$2/p" "$T/out"; }
# json EXPRESSION: of the object d in $out
json() { python3 -c "import json,sys; d=json.load(open(sys.argv[1])); print($1)" "$T/out"; }

# --- text
try "$SXS" heap --snapshot 1 "$S"
has "the text: status, snapshot, what asked for it" "$status:$err:$out" "0::heap snapshot 1 of process 4242: dotnet app.dll" \
    "asked for by a signal"
has "each runtime: objects, bytes, collection, pause" "$out" \
    "runtime 1 (8.0.29): 16 objects, 1.48 KiB, after a collection; stopped for 12.30 ms, 300.00 us of it to stop" \
    "runtime 2 (10.0.11): 3 objects, 96 B"
has "garbage, and references to what is not recorded" "$out" "no root leads to 1 object, 24 B" \
    "references to addresses without a recorded object: 1"
has "what was not recorded" "$out" "not recorded: objects outside of the collected heap, generations"
is "the types by bytes, with what all their objects keep alive together" "1 1000 B 1000 B System.Byte[] (1 pinned)
6 144 B 244 B App.Part
1 100 B 100 B System.String
3 96 B 96 B App.Node
1 64 B 160 B App.Node[]
1 40 B 188 B App.Holder<System.Int32>
1 24 B 24 B App.Cache
1 24 B 24 B App.Garbage
1 24 B 24 B App.Waiting (finalizable)" \
    "$(sed -n '/^runtime 1/,/roots/p' "$T/out" | sed -n '/retained  type/,/^$/p' | sed -n 's/ [0-9.]* %//; s/  */ /g; s/^ //; /^[0-9]/p')"
is "generations" "9 gen 0:1 gen 1:5 gen 2:1 large" \
    "$(sed -n '/^runtime 1/,/^runtime 2/p' "$T/out" | awk '/generation$/ { on = 1; next } /^$/ { on = 0 } on { print $1, $(NF-1), $NF }' |
        sed 's/% large/large/' | paste -sd:)"
is "roots by kind, with what would be garbage without them" "2:2:188 B:stack
2:2:72 B:static field
1:1:24 B:finalizer queue
1:1:24 B:strong handle
1:1:1000 B:pinned handle
1:1:0 B:weak handle" \
    "$(lines 'kept alive  kind' '^$' | sed -n 's/^ *\([0-9]*\)  *\([0-9]*\)  *\([0-9]* B\)  \(.*\)/\1:\2:\3:\4/p' | head -n 6)"
has "what keeps what: a shared string belongs to its holder, an object of two roots to both" "$out" "  188 B  12.4 %      App.Holder<System.Int32>  x 1
       100 B   6.6 %        System.String  x 1
        48 B   3.2 %        App.Part  x 2" "   24 B   1.6 %  several roots
        24 B   1.6 %    App.Part  x 1"
try "$SXS" heap --snapshot 1 --runtime 2 "$S"
lacks "--runtime: the other runtime is left out" "$out" "runtime 1"
has "--runtime: a name with quotes" "$out" 'App.Cache."mine"'
try "$SXS" heap "$S"
has "without --snapshot: the newest" "$status:$out" "0:heap snapshot 2 of process 4242"
try "$SXS" heap --top 2 --snapshot 1 --runtime 1 "$S"
has "--top" "$out" "and 7 more types"

# --- who keeps a type
try "$SXS" heap --snapshot 1 --runtime 1 --type App.Part "$S"
is "--type: all paths, with dependent handles and lists" "App.Part: 6 objects, 144 B, retained 244 B
  gen 0: 6
  at 0x2040, 0x2060, 0x3000, 0x3020...
  3 objects, 72 B
    App.Part (a list)
    <- static field App.Cache.other
  1 object, 24 B
    App.Part
    <- strong handle
  1 object, 24 B
    App.Part
    <- App.Holder<System.Int32>.first
    <- stack App.Program.Main(System.String[])
  1 object, 24 B
    App.Part
    <- App.Holder<System.Int32>.rest.second
    <- stack App.Program.Main(System.String[])" "$(lines '^App.Part' '^$')"
try "$SXS" heap --snapshot 1 --type 'App.N*' "$S"
has "--type with a pattern: a static field is preferred only when it is as near" "$out" "App.Node: 3 objects" "App.Node[]: 1 object, 64 B, retained 160 B" \
    "    App.Node
    <- App.Node[]
    <- thread-static field App.Cache.\"mine\""
try "$SXS" heap --snapshot 1 --type Nothing "$S"
has "--type without a match" "$status:$out" "0:" "no objects of a type that matches Nothing"

# --- JSON
try "$SXS" heap --format json --snapshot 1 "$S"
is "JSON: objects and bytes by type" "16 1516 3 96" \
    "$(json '*(sum(t[k] for t in d["heap"] if t["runtime"] == r) for r in (1, 2) for k in ("objects", "bytes"))' | tr -d '(),')"
is "JSON: all of one type" "{'runtime': 1, 'type': 'App.Holder<System.Int32>', 'objects': 1, 'bytes': 40, 'retained_bytes': 188, 'pinned_objects': 0, 'not_reached_objects': 0, 'finalizable': False, 'generations': [1, 0, 0, 0, 0, 0], 'module': '/app/app.dll'}" \
    "$(json '[t for t in d["heap"] if "Holder" in t["type"]][0]')"
is "JSON: the tree of what keeps what sums up" "True" \
    "$(json 'all(n["kept_bytes"] == n["bytes"] + sum(c["kept_bytes"] for c in d["dominators"] if c["runtime"] == n["runtime"] and c["parent"] == n["node"] != c["node"]) for n in d["dominators"])')"
try "$SXS" heap --format json --snapshot 1 --type App.Node "$S"
is "JSON with --type: paths" "['App.Node', 'App.Node[]', 'App.Program.Main(System.String[])', 'stack']" "$(json 'd["paths"][0]["steps"]')"
is "JSON with --type: the fields of paths; the index only if it is one" "[[None, '[*]', None, None], [None, None, None, None]]" \
    "$(json '[p["fields"] for p in d["paths"]]')"
try "$SXS" report --format json "$S"
is "report --format json: the objects of the newest snapshot" "12 1328:8 296" \
    "$(json '":".join("%d %d" % tuple(sum(t[k] for t in d["heap"] if t["runtime"] == r) for k in ("objects", "bytes")) for r in (1, 2))')"
try "$SXS" report --format json --runtime 2 "$S"
is "report --format json --runtime: of one runtime" "{2}" "$(json '{t["runtime"] for t in d["heap"]}')"

# --- differences
try "$SXS" heap --diff 1 "$S"
is "--diff: what is compared, all types before and now, what grew and what shrank" "before: session/4242/heap-1: 19 objects, 1.57 KiB
now: session/4242/heap-2: 20 objects, 1.59 KiB
5 types changed, 6 did not
objects now difference bytes runtime type
19 20 +1 +12 B all types
2 7 +5 +160 B 2 App.Node
1 1 +0 +40 B 2 App.Node[]
1 0 -1 -40 B 1 App.Holder<System.Int32>
6 4 -2 -48 B 1 App.Part
1 0 -1 -100 B 1 System.String" "$(sed 's/  */ /g; s/^ //' "$T/out")"
cp "$T/out" "$T/expected"
try "$SXS" heap --diff 1 --top 3 "$S"
is "--diff --top: the types that changed most, whether they grew or shrank, and the sum of the others" "2 7 +5 +160 B 2 App.Node
6 4 -2 -48 B 1 App.Part
1 0 -1 -100 B 1 System.String
2 1 -1 +0 B 2 types that changed less" "$(sed '1,5d; s/  */ /g; s/^ //' "$T/out")"
for other in "$S:1" "$T/session:1"; do
    try "$SXS" heap --diff "$other" "$S"
    is "--diff SESSION:NUMBER" "0:$(cat "$T/expected")" "$status:$out"
done
try "$SXS" heap --snapshot 1 --diff "$S" "$S"
has "--diff SESSION: its newest snapshot" "$status:$out" "0:" " -5 "
try "$SXS" heap --format json --diff 1 "$S"
is "--diff as JSON" "{'runtime': 2, 'type': 'App.Node', 'objects_before': 2, 'objects': 7, 'bytes_before': 64, 'bytes': 224}" "$(json 'd["heap"][0]')"
is "--diff as JSON: types that changed, and what all types have, as in the text" \
    "5 {'objects_before': 19, 'objects': 20, 'bytes_before': 1612, 'bytes': 1624, 'changed': 5, 'unchanged': 6}" \
    "$(json '"%d %s" % (len(d["heap"]), d["all_types"])')"
try "$SXS" heap --snapshot 1 --diff 1 "$S"
is "--diff of equal snapshots: no rows" "0:0 types changed, 11 did not" "$status:$(sed 1,2d "$T/out")"
"$T/make_heap" "$T/leak" 1 known
"$T/make_heap" "$T/leak" 2 leaked
try "$SXS" heap --diff 1 "$T/leak"
is "--diff: beside a leak, what changed by less than a hundredth of it is one row" "2 1002 +1000 +31.25 KiB 2 App.Node
0 2 +2 +48 B 2 types that changed less" "$(sed '1,5d; s/  */ /g; s/^ //' "$T/out")"
try "$SXS" heap --diff 1 --top 9 "$T/leak"
lacks "--diff --top: these rows too" "$out" "changed less"

try "$SXS" heap --diff 1 --format html "$S"
has "--diff as a page: the same rows and sums" "$status:$err:$out" "0::" '["App.Node",2,2,7,64,224]' "</html>" \
    '"unchanged":6,"all":["all types",0,19,20,1612,1624],'
lacks "--diff as a page: no row for a type that did not change" "$out" '"App.Garbage"'

"$SXS" heap --diff 1 --format html "$S" >"$T/expected.html"
"$SXS" heap --diff 1 "$S" >"$T/expected.text"
"$T/make_heap" "$T/before" 1 known
for data in "" "--data heap"; do
    for format in text html; do
        # shellcheck disable=SC2086
        try "$SXS" diff $data --format $format "$T/before" "$S"
        is "diff $data of two sessions with snapshots: the same $format" "0::" \
            "$status:$err:$(sed 's,\([ "]\)before/,\1session/,' "$T/out" | diff "$T/expected.$format" -)"
    done
done
try "$SXS" diff --data samples "$T/before" "$S"
has "diff --data samples of these is refused" "$status:$err" "2:" "nothing to compare"
try "$SXS" heap --runtime 1 --diff 1 --format json "$S"
is "--diff with --runtime: of this runtime only" "{1}" "$(json '{c["runtime"] for c in d["heap"]}')"

# --- other formats
for format in text json html heapsnapshot; do
    "$SXS" heap --format $format "$S" >"$T/shown" 2>&1
    try "$SXS" heap --format $format -o "$T/file" "$S"
    is "--format $format -o FILE: the file has the text of standard output" "0::$(md5sum <"$T/shown")" "$status:$out$err:$(md5sum <"$T/file")"
done
is "heapsnapshot: as many nodes and references as it says" True "$(python3 -c "
import json, sys
d = json.load(open(sys.argv[1])); s = d['snapshot']
print(len(d['nodes']) == 7 * s['node_count'] and len(d['edges']) == 3 * s['edge_count'] == 3 * sum(d['nodes'][4::7]) and
      max(d['edges'][2::3]) < len(d['nodes']) and max(d['nodes'][1::7]) < len(d['strings']))" "$T/file")"
has "html: one page" "$("$SXS" heap --format html "$S")" "<!DOCTYPE html>" '"App.Holder\u003cSystem.Int32>"' "</html>"

# --- packed sessions
try "$SXS" pack -o "$T/packed.sxsprof" "$S"
has "pack: with the snapshots" "$status:$out" "0:" "files: 3"
for arguments in "--snapshot 1" "--diff 1" "--format json"; do
    # shellcheck disable=SC2086
    {
        try "$SXS" heap $arguments "$S"
        sed 's,: *session/,: packed.sxsprof/,' "$T/out" >"$T/expected"
        try "$SXS" heap $arguments "$T/packed.sxsprof"
    }
    is "heap $arguments of the packed session is the same" "0::" \
        "$status:$err:$(sed 's,: *packed,: packed,' "$T/out" | diff "$T/expected" -)"
done

# --- pages beside the session, and the report of the session
mkdir "$T/none"
for tool in sh cat mv; do ln -s "$(command -v $tool)" "$T/none/"; done
try env PATH="$T/none" "$SXS" heap --open --snapshot 1 "$S"
is "--open without an opener: prints the path of the page" "0:$S-heap-1.html:" "$status:$out:$err"
has "--open: the page is written" "$(head -c 300 "$S-heap-1.html")" "<!DOCTYPE html>"
try "$SXS" heap --open --format json "$S"
has "--open with another format is refused" "$status:$err" "2:" "--open: expected --format html, not json"
try "$SXS" report "$S"
has "report: says that there are snapshots, and what prints them" "$status:$out" "0:" \
    "heap snapshots: 2; sxsprof heap $S prints the newest"

# --- many objects, and long lists
for graph in list tree; do
    "$T/make_heap" "$T/$graph" 1 $graph 1000000
    try "$SXS" heap --format json "$T/$graph"
    is "a $graph of 1000000 objects: all kept by one static field" "1000000 32000000 32000000" \
        "$(json '"%d %d %d" % (d["heap"][0]["objects"], d["heap"][0]["bytes"], d["heap"][0]["retained_bytes"])')"
    try "$SXS" heap --type App.Node "$T/$graph"
    has "a $graph: one path" "$out" "  1000000 objects, 30.52 MiB
    App.Node (a list)
    <- static field App.Cache.all"
done

# --- snapshots that are incomplete or damaged
"$T/make_heap" "$T/open" 1 open
try "$SXS" heap "$T/open"
has "a snapshot that was not completed: a message, its objects, status 1" "$status:$err:$out" "1:" \
    "open/4242/heap-1: incomplete: it is still being written, or the process ended before its end" "runtime 1: incomplete, its end is missing" "16 objects"
"$T/make_heap" "$T/open" 1 failed
try "$SXS" heap "$T/open"
has "a snapshot that found no room: the reason" "$status:$err" "1:" "heap-1: incomplete: No space left on device"
head -c 4700 "$S/4242/heap-1" >"$T/open/4242/heap-1"
try "$SXS" heap "$T/open"
has "a file that was cut: a message, what is before, status 1" "$status:$err:$out" "1:" "cut: the file is shorter than its header says" "App.Node"
try "$SXS" report --format json "$T/open"
has "report --format json of it: the same message" "$status:$err" "1:" "4242/heap-1: cut"
echo "something else" >"$T/open/4242/heap-1"
try "$SXS" heap "$T/open"
has "a file of another format" "$status:$err:$out" "1:" "4242/heap-1: cut: 15 bytes, a header has"
rm "$T/open/4242/heap-1"
ln -s "$S/4242/heap-1" "$T/open/4242/heap-1"
try "$SXS" heap "$T/open"
has "a link is not followed" "$status:$err:$out" "1:" "symbolic link: not followed"

# --- refusals
rm "$T/open/4242/heap-1"
refused() { # CLAIM PART ARGUMENT...
    local claim=$1 part=$2
    shift 2
    try "$SXS" heap "$@"
    has "refused: $claim" "$status:$out:$err" "2::" "$part"
}
refused "a session without snapshots" "no heap snapshots; expected a folder made by sxsprof record heap" "$T/open"
refused "a file of a format that heap does not have" "--format: 'svg': expected text, json, html or heapsnapshot" -o "$T/x.svg" "$S"
refused "a number that is not there" "--snapshot: 9: $S has no such heap snapshot; the newest is 2" --snapshot 9 "$S"
refused "a runtime that is not there" "no such runtime" --runtime 9 "$S"
refused "a process that is not there" "no such process" --process 9 "$S"
refused "a folder that is not there" "No such file or directory" "$T/nothing"
refused "an unknown format" "expected text, json, html or heapsnapshot" --format xml "$S"
refused "a difference for DevTools" "--diff: expected --format text, json or html" --diff 1 --format heapsnapshot "$S"
refused "--diff with --type" "exclude each other" --diff 1 --type X "$S"
refused "a snapshot to compare with that is not there" "has no such heap snapshot" --diff 7 "$S"
refused "two sessions" "is one more" "$S" "$S"
refused "no number" "expected a number" --snapshot x "$S"
refused "an output in no folder" "--output: $T/nowhere/x: No such file or directory" -o "$T/nowhere/x" "$S"
refused "a process that does not exist" "no such process" 999999999
sleep 100 &
sleeper=$!
refused "a process without the library" "process $sleeper: libsxsprof.so is not loaded" $sleeper
kill $sleeper

# --- what the session lacks
cp -r "$S" "$T/lacks" || exit 1
echo "sxsprof: tool locks is off" >"$T/lacks/4242/log"
said="4242/log: tool locks is off"
try "$SXS" heap "$T/lacks"
is "what is missing: text, first line" "0::$said" "$status:$err:$(head -n 1 "$T/out")"
try "$SXS" heap --format json "$T/lacks"
is "what is missing: JSON" "[{'what': 'log', 'count': 1, 'text': '$said'}]" "$(json 'd["missing"]')"
try "$SXS" heap --format html "$T/lacks"
has "what is missing: page" "$out" "\"missing\":[\"$said\"]"
for wanted in "--format heapsnapshot" "--static App.Nothing.Field"; do
    # shellcheck disable=SC2086 # two options
    try "$SXS" heap $wanted "$T/lacks"
    has "what is missing: $wanted: standard error" "$err" "$said"
done
try "$SXS" heap --diff 1 "$T/lacks"
is "what is missing: --diff" "before  $said
now     $said" "$(head -n 2 "$T/out")"
try "$SXS" heap --format json --diff "$S:1" "$T/lacks"
is "what is missing: --diff as JSON" "None ['$said']" "$(json 'd.get("missing_before"), [m["text"] for m in d["missing"]]' | tr -d '(,)')"
try "$SXS" heap --format html --diff "$S:1" "$T/lacks"
has "what is missing: --diff as a page" "$out" "\"missing\":[\"now, $said\"]"

cd "$T" || exit 1
mkdir here && cd here || exit 1
refused "no session, and none in this folder" "no session is in the current folder"
cp -r "$S" .
try "$SXS" heap
has "without a session: the newest in this folder" "$status:$err:$out" "0:" "the newest session is session" "heap snapshot 2"
cp -r session 77
try "$SXS" heap 77
has "a folder whose name is a number is a session" "$status:$out" "0:heap snapshot 2"
finish
