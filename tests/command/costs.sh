#!/bin/bash
# SPDX-License-Identifier: MIT
# costs.sh - checks the reports of costs (allocations, native memory, waits for locks) in every format, of
# sessions with known numbers (tests/profile/make_costs.c), and what is refused.
# SHOTS: folder of screenshots (default: removed at the end).
cd "$(dirname "$0")/../.." || exit 1
. tests/command/common.inc
SHOTS=${SHOTS:-$T}
$CC -std=gnu11 -D_GNU_SOURCE -g -I. tests/profile/make_costs.c -o "$T/make_costs" || exit 1
make_session() { "$T/make_costs" "$T/$1" "${@:2}" || exit 1; }
make_session s alnfw
make_session counted alnftw
make_session samples alnfws
make_session plain anw
MAIN="[8.0.29] App.Program.Main"
ADD="$MAIN;[8.0.29] App.Cache.Add"
APPEND="$ADD;[8.0.29] System.Text.StringBuilder.Append"

# report DATA FORMAT [OPTION...]: sets $status, $out and $err; the session is $S or s. The files that the session
# names are not here, which the report says; no other message is expected.
report() {
    try "$SXS" report --data "$1" --format "$2" "${@:3}" "$T/${S:-s}"
    err=$(grep -v 'cannot be opened any more' "$T/err")
}
# same CLAIM EXPECTED: the report has succeeded with exactly this output.
same() { is "$1" "0::$2" "$status:$err:$out"; }

# --- collapsed
report alloc collapsed
same "alloc: bytes by stack; the type is the youngest frame, the runtime's own frames are left out" \
    "main [100];$ADD;[8.0.29] System.Byte[] (type) 200000
main [100];$APPEND;[8.0.29] System.String (type) 20000
worker [101];[9.0.18] App.Work.Run;[9.0.18] App.Node<System.Int32> (type) 540"
report alloc collapsed --by-count
same "alloc --by-count: objects by stack, rounded" "main [100];$ADD;[8.0.29] System.Byte[] (type) 2
main [100];$APPEND;[8.0.29] System.String (type) 500
worker [101];[9.0.18] App.Work.Run;[9.0.18] App.Node<System.Int32> (type) 23"
report live collapsed
same "live: without those that are gone" "main [100];$ADD;[8.0.29] System.Byte[] (type) 200000
main [100];$APPEND;[8.0.29] System.String (type) 12000"
report native collapsed
same "native: malloc and mmap stand where the types of objects do" \
    "main [100];$MAIN;[native] libplugin.so!?;[native] malloc 4000
main [100];$MAIN;[native] libplugin.so!?;[native] mmap 65536"
report native-live collapsed --by-count
same "native-live --by-count: blocks that are not freed" \
    "main [100];$MAIN;[native] libplugin.so!?;[native] malloc 20
main [100];$MAIN;[native] libplugin.so!?;[native] mmap 1"
report locks collapsed
same "locks: ns by stack of the waiting thread" \
    "main [100];$ADD;[8.0.29] System.Object (type) 6000000
worker [101];[9.0.18] App.Work.Run;[9.0.18] App.Gate (type) 10000000"
report lock-owners collapsed
same "lock-owners: ns that others waited, by stack of the owner" \
    "worker [101];[9.0.18] App.Work.Run;[8.0.29] System.Object (type) 3000000"
report lock-owners collapsed --by-count
same "lock-owners --by-count: waits" "worker [101];[9.0.18] App.Work.Run;[8.0.29] System.Object (type) 2"
report alloc collapsed --runtime 2
same "--runtime 2: objects of that runtime" \
    "worker [101];[9.0.18] App.Work.Run;[9.0.18] App.Node<System.Int32> (type) 540"
report alloc collapsed --thread worker
same "--thread: objects that the thread allocated" \
    "worker [101];[9.0.18] App.Work.Run;[9.0.18] App.Node<System.Int32> (type) 540"
report native collapsed --managed
same "--managed: native frames are left out, and what was allocated stays" \
    "main [100];$MAIN;[native] malloc 4000
main [100];$MAIN;[native] mmap 65536"
try "$SXS" report --format collapsed "$T/s"
has "the default is alloc when there are no samples and calls" "$out" "System.String (type) 20000"
try "$SXS" report --format collapsed "$T/samples"
is "the default is samples when there are some" "main [100];$MAIN 50000000" "$out"

# --- text
report alloc text
has "alloc: the totals, and how sure they are" "$out" \
    "allocated: 215.37 KiB in 525 objects (estimates from 17 samples; in 19 of 20 runs the true value is 205.81 KiB to 230.50 KiB in 283 to 979 objects)" \
    "one object recorded for 1000 B on average, 0 dropped"
has "alloc: the types, heaviest first" "$out" \
    "        bytes     share        objects    error of bytes        of objects  type
   195.31 KiB   90.69 %              2       -0.0 +0.0 %       -0.0 +0.0 %  [8.0.29] System.Byte[]  (2 on the large object heap)
    19.53 KiB    9.07 %            500     -48.7 +77.6 %     -48.7 +77.6 %  [8.0.29] System.String
        540 B    0.24 %             23    -56.3 +109.8 %    -56.3 +109.8 %  [9.0.18] App.Node<System.Int32>"
has "alloc: the sites, in the program's own code, and what it called" "$out" \
    "    19.53 KiB    9.07 %            500  [8.0.29] System.String
                                      in        [8.0.29] App.Cache.Add(string)
                                      by        [8.0.29] System.Text.StringBuilder.Append(char)"
has "alloc: functions by what they themselves allocated" "$out" \
    "top functions by self
      self     total  function
   90.69 %   99.76 %  [8.0.29] App.Cache.Add(string)
    9.07 %    9.07 %  [8.0.29] System.Text.StringBuilder.Append(char)"
lacks "alloc alone: no table of runtimes" "$out" "version  state"
S=counted report alloc text
has "alloc:exact: the totals and types are counted" "$out" \
    "allocated: 215.80 KiB in 535 objects (counted; the stacks are estimates from 17 samples)" \
    "    20.00 KiB    9.27 %            512             exact             exact  [8.0.29] System.String" \
    "         24 B    0.01 %              1             exact             exact  [10.0.11] App.Rare"
make_session lacking alnftx
S=lacking report alloc text
has "alloc:exact where a runtime does not report all: the first lines say so, and the rows say 'at least'" "$out" \
    '  counted too low: boxed values and delegates in .NET 10 ("at least")' \
    "20 of them were counted; by the samples, which lack none, there are " \
    "allocated: at least 215.80 KiB in 535 objects" \
    "        480 B    0.22 %             20          at least          at least  [9.0.18] App.Node<System.Int32>" \
    "            512             exact             exact  [8.0.29] System.String"
S=counted report alloc text --thread main
has "alloc:exact of one thread: estimates" "$out" "allocated: 214.84 KiB in 502 objects (estimates from 12 samples"
make_session biased ab
S=biased report alloc text
has "alloc by ticks: the first lines say that the error is not known, and no error is printed" "$out" \
    "not chosen at random: objects of runtime 1. Estimates of a type may be wrong by any factor" \
    "(estimates from 17 samples, some not chosen at random: their error is not known)" \
    "            500           unknown           unknown  [8.0.29] System.String" \
    "             23    -56.3 +109.8 %    -56.3 +109.8 %  [9.0.18] App.Node<System.Int32>"
is "JSON of alloc by ticks: no error" "True None None None" "$("$SXS" report --format json "$T/biased" 2>/dev/null |
    python3 -c 'import json, sys; r = json.load(sys.stdin)["allocations"][1]; print(r["biased"], r["error_bytes"], r["bytes_low"], r["objects_high"])')"
report live text
has "live: what is alive" "$out" "alive: 207.03 KiB in 302 objects (estimates from 8 samples"
has "live: allocation sites with generation and age" "$out" \
    "   195.31 KiB   94.34 %              2  large            6.00 s      6.00 s  [8.0.29] System.Byte[]
                                      in        [8.0.29] App.Cache.Add(string)
    11.72 KiB    5.66 %            300  gen 2 67 %       6.93 s      6.96 s  [8.0.29] System.String"
make_session unchecked alg
S=unchecked report live text
has "live: what may be garbage is told beside what is alive, and in its rows" "$out" \
    "alive: 11.72 KiB in 300 objects (estimates from 6 samples" \
    "may be garbage, because no collection of all objects came after it: 195.31 KiB in 2 objects" \
    "[8.0.29] System.Byte[]  (100 % may be garbage)"
is "JSON of live: what may be garbage" "[(2, 200000), (0, 0)]" "$("$SXS" report --format json "$T/unchecked" 2>/dev/null |
    python3 -c 'import json, sys; print([(r["unchecked_objects"], r["unchecked_bytes"]) for r in json.load(sys.stdin)["live"]])')"
make_session unfollowed alu
S=unfollowed report live text
has "live: what nobody followed is not listed, but told" "$out" "alive: 207.03 KiB in 302 objects" \
    "not listed: 1.95 KiB in 2 objects that nobody followed"
is "JSON of live: what nobody followed is left out" 212000 "$("$SXS" report --format json "$T/unfollowed" 2>/dev/null |
    python3 -c 'import json, sys; print(sum(r["bytes"] for r in json.load(sys.stdin)["live"]))')"
report native-live text
has "native-live: what is not freed, with the managed caller" "$out" \
    "not freed: 65.95 KiB in 21 blocks" \
    "     1.95 KiB    2.96 %             20      6.47 s      6.48 s  malloc
                                      in        [8.0.29] App.Program.Main(string[])
                                      by        [native] libplugin.so!?"
report locks text
has "locks: every wait was recorded" "$out" "every wait recorded" "waited for locks: 16.00 ms in 4 waits
"
has "locks: waits by type, with the longest and those that had not ended" "$out" \
    "     10.00 ms   62.50 %              1     10.00 ms  [9.0.18] App.Gate  (1 had not ended)
      6.00 ms   37.50 %              3      3.00 ms  [8.0.29] System.Object"
has "locks: waits by site, with the owner's" "$out" \
    "      3.00 ms   18.75 %              2      2.00 ms  [8.0.29] System.Object
                                      in        [8.0.29] App.Cache.Add(string)
                                      held in   [9.0.18] App.Work.Run()
      3.00 ms   18.75 %              1      3.00 ms  [8.0.29] System.Object
                                      in        [8.0.29] App.Cache.Add(string)"
report lock-owners text
has "lock-owners: what others waited for, by the owner's call site" "$out" \
    "waited for by others: 3.00 ms in 2 waits" \
    "waits by call site of the owner" \
    "      3.00 ms  100.00 %              2      2.00 ms  [8.0.29] System.Object
                                      in        [9.0.18] App.Work.Run()"
try "$SXS" report "$T/samples"
has "text of everything: the runtimes, the samples and each kind of costs" "$out" "version  state" \
    "10 samples, 0 dropped" "allocated: 215.37 KiB" "alive: 207.03 KiB" "allocated natively: 67.91 KiB" \
    "not freed: 65.95 KiB" "waited for locks: 16.00 ms"
is "text of everything: a missing file is named once" 1 "$(grep -c '/libplugin.so: cannot be opened' "$T/err")"
try "$SXS" report --data samples "$T/samples"
lacks "--data samples: no costs" "$out" "allocated:"
try "$SXS" report -o "$T/text" "$T/s"
has "-o has everything, too" "$(cat "$T/text")" "version  state" "allocated: 215.37 KiB" "waited for locks"

# --- waits by samples
make_session waits k
report_waits() { S=waits report "$@"; }
report_waits wait collapsed
same "wait: samples of waiting threads, with the reason as the youngest frame" \
    "main [100];$ADD;wait: sleep 30000000
main [100];[native] libplugin.so!?;wait: input or output 5000000"
report_waits wait text
has "wait: reasons, and the program's functions" "$out" \
    "   85.71 %      0.030 s          6  wait: sleep
   85.71 %      0.030 s          6      [8.0.29] App.Cache.Add(string)
   14.29 %      0.005 s          1  wait: input or output
"
try "$SXS" report "$T/waits"
has "text of a session with reasons: the samples, then the waits" "$out" "10 samples, 0 dropped" "what threads waited for"
try "$SXS" report --format html -o "$T/waits.html" "$T/waits"
S=samples report wait text
is "wait: samples without waiting threads: status 2" 2 $status

# --- JSON
json() { # LIST PYTHON: prints an expression of each row r of a list
    "$SXS" report --format json "${@:3}" "$T/${S:-s}" 2>"$T/err" | python3 -c "
import json, sys
d = json.load(sys.stdin)
print(*($2 for r in d['$1']), sep='\n') if '$1' in d else print('none')"
}
row='"%s %s %d %d" % (r["runtime"], r["type"], r["objects"], r["bytes"])'
is "JSON: allocations" "1 System.Byte[] 2 200000
1 System.String 500 20000
2 App.Node<System.Int32> 23 540" "$(json allocations "$row")"
is "JSON: live" "1 System.Byte[] 2 200000
1 System.String 300 12000" "$(json live "$row")"
is "JSON: locks" "2 App.Gate 1 10000000 10000000 1
1 System.Object 3 6000000 3000000 0" \
    "$(json locks '"%s %s %d %d %d %d" % (r["runtime"], r["type"], r["waits"], r["wait_ns"], r["longest_ns"], r["open_waits"])')"
is "JSON: native and native_live" "mmap 1 65536 malloc 40 4000 mmap 1 65536 malloc 20 2000" \
    "$(for list in native native_live; do json $list '"%s %d %d" % (r["type"], r["blocks"], r["bytes"])'; done | paste -sd' ')"
is "JSON: members of an estimate" "{'pid': 4242, 'runtime': 1, 'version': '8.0.29', 'type': 'System.String', 'objects': 500, 'bytes': 20000, 'exact': False, 'samples': 10, 'biased': False, 'at_least': False, 'error_bytes': 6261, 'objects_low': 256, 'objects_high': 888, 'bytes_low': 10251, 'bytes_high': 35516, 'large_objects': 0, 'pinned_objects': 0}" \
    "$(json allocations r | sed -n 2p)"
is "JSON: large objects" 2 "$(json allocations 'r["large_objects"]' | sed -n 1p)"
is "JSON: counted types are exact, also those without a sample" "1 System.Byte[] 2 200000 True
1 System.String 512 20480 True
2 App.Node<System.Int32> 20 480 True
3 App.Rare 1 24 True" "$(S=counted json allocations "$row + ' ' + str(r['exact'])")"
is "JSON: every wait was recorded: exact" "True True" "$(json locks 'r["exact"]' | paste -sd' ')"
is "JSON: --runtime" "2 App.Node<System.Int32> 23 540" "$(json allocations "$row" --runtime 2)"
is "JSON: no list of live objects when it is not known what is gone" "none none none" \
    "$(for list in live native_live heap; do S=plain json $list r; done | paste -sd' ')"
make_session two alnfw 4242
make_session two alnfw 4243
is "JSON: two processes" "4242 4242 4243 4243" "$(S=two json live 'r["pid"]' | sort | paste -sd' ')"
is "JSON: --process" "4243 4243" "$(S=two json live 'r["pid"]' --process 4243 | paste -sd' ')"
S=two report alloc text
has "text of two processes: a type has its process" "$out" "4243/[8.0.29] System.String" "allocated: 430.74 KiB in 1,049 objects"

# --- formats of other programs
pprof() { report "$1" pprof -o "$T/pb" "${@:2}"; python3 tests/profile/pprof_values.py "$T/pb"; }
NAMES="$MAIN(string[]);[8.0.29] App.Cache.Add(string)"
is "pprof of alloc: four sample types, as Go's heap profiles" \
    "alloc_objects/count alloc_space/bytes inuse_objects/count inuse_space/bytes default alloc_space period 1000
2 200000 2 200000 $NAMES;[8.0.29] System.Byte[] (type)
23 540 0 0 [9.0.18] App.Work.Run();[9.0.18] App.Node<System.Int32> (type)
500 20000 300 12000 $NAMES;[8.0.29] System.Text.StringBuilder.Append(char);[8.0.29] System.String (type)" "$(pprof alloc)"
is "pprof of live: the same values, and what is in use is shown first" \
    "$(pprof alloc | sed 's/default alloc_space/default inuse_space/')" "$(pprof live)"
is "pprof --by-count: objects are shown first" "default alloc_objects default inuse_objects" \
    "$({ pprof alloc --by-count && pprof live --by-count; } | grep -o 'default [a-z_]*' | paste -sd' ')"
is "pprof of alloc without live=on: two sample types" "alloc_objects/count alloc_space/bytes default alloc_space period 1000" \
    "$(S=plain pprof alloc | sed -n 1p)"
is "pprof of native" \
    "alloc_objects/count alloc_space/bytes inuse_objects/count inuse_space/bytes default alloc_space period 1000
1 65536 1 65536 $MAIN(string[]);[native] libplugin.so!?;[native] mmap
40 4000 20 2000 $MAIN(string[]);[native] libplugin.so!?;[native] malloc" "$(pprof native)"
is "pprof of locks" "contentions/count delay/nanoseconds default delay period 1
1 10000000 [9.0.18] App.Work.Run();[9.0.18] App.Gate (type)
3 6000000 $NAMES;[8.0.29] System.Object (type)" "$(pprof locks)"
if command -v go >/dev/null 2>&1; then
    pprof live >/dev/null
    has "go tool pprof reads it: bytes in use" "$(HOME=$T go tool pprof -top "$T/pb" 2>/dev/null)" "Type: inuse_space" "195.31kB"
else
    skip "go tool pprof" "no go here (Debian: golang-go)"
fi
speedscope() { # DATA [OPTION...]: unit and weights of each thread
    report "$1" speedscope "${@:2}"
    python3 -c 'import json, sys
for p in json.load(sys.stdin)["profiles"]:
    print(p["name"], p["unit"], *p["weights"])' <<<"$out"
}
is "speedscope of alloc: bytes" "main [100] bytes 20000 200000
worker [101] bytes 540" "$(speedscope alloc)"
is "speedscope --by-count: no unit" "main [100] none 500 2
worker [101] none 23" "$(speedscope alloc --by-count)"
is "speedscope of locks: ns" "main [100] nanoseconds 6000000
worker [101] nanoseconds 10000000" "$(speedscope locks)"
firefox() {
    report "$1" firefox "${@:2}"
    python3 -c 'import json, sys
for t in json.load(sys.stdin)["threads"]:
    s = t["samples"]
    print(t["name"], s["weightType"], *s["weight"])' <<<"$out"
}
is "firefox of alloc: bytes" "main [100] bytes 20000 200000
worker [101] bytes 540" "$(firefox alloc)"
is "firefox of locks: ms" "main [100] tracing-ms 6.0
worker [101] tracing-ms 10.0" "$(firefox locks)"
report alloc chrome
is "chrome is refused: status 2, nothing is written" "2:" "$status:$out"
has "chrome is refused: it shows no sums, and which formats do" "$err" "--format chrome" "no sums of objects" "expected text"

# --- the page, and differences
part() { # FILE INDEX PYTHON: prints an expression of the data d of a page's part
    python3 -c 'import json, re, sys
all = re.findall(r"<script type=\"application/json\"[^>]*>(.*?)</script>", open(sys.argv[1]).read(), re.S)
d = json.loads(all[int(sys.argv[2])])
print('"$3"')' "$1" "$2"
}
try "$SXS" report --format html -o "$T/all.html" "$T/samples"
is "html: all data are on one page" "samples alloc live native native-live locks lock-owners" "$(part "$T/all.html" 0 '*d["parts"]')"
is "html: each part has its own data" "alloc bytes 525 17" \
    "$(part "$T/all.html" 1 'd["data"], d["units"], d["samples"], d["records"]')"
is "html: locks are in ns" "locks ns 4" "$(part "$T/all.html" 5 'd["data"], d["units"], d["samples"]')"
report live html -o "$T/live.html"
is "html --data live: that part alone" "live live 302" "$(part "$T/live.html" 0 '*d["parts"], d["data"], d["samples"]')"
make_session more alnfw 4242 10
try "$SXS" diff --data alloc -o "$T/diff.html" "$T/s" "$T/more"
is "diff of alloc" "0 alloc bytes 1025" "$status $(part "$T/diff.html" 0 'd["data"], d["units"], d["samples"]')"
try "$SXS" diff --data live --by-count -o "$T/diff.html" "$T/s" "$T/more"
is "diff --by-count of live" "0 live count 802" "$status $(part "$T/diff.html" 0 'd["data"], d["units"], d["samples"]')"
try "$SXS" diff --data locks -o "$T/diff-locks.html" "$T/s" "$T/more"
is "diff of locks" 0 $status
if NODE_MODULES=$(sh setup/browser.sh --present 2>"$T/lacks"); then
    export NODE_MODULES
    "$SXS" diff --data alloc -o "$T/diff.html" "$T/s" "$T/more" 2>/dev/null
    timeout 300 node tests/profile/page_costs.mjs "$T/all.html" "$T/diff.html" "$SHOTS" || failed=1
else
    skip "the page in a browser" "$(cat "$T/lacks")"
fi

# --- packed sessions
try "$SXS" pack -o "$T/s.sxsprof" "$T/s"
try "$SXS" report --data live --format collapsed "$T/s.sxsprof"
is "a packed session: the same" "$("$SXS" report --data live --format collapsed "$T/s" 2>/dev/null)" "$out"

# --- what is refused
try "$SXS" report --data heap "$T/s"
is "--data: an unknown word: status 2" 2 $status
has "--data: an unknown word: which there are" "$err" "expected samples|calls|alloc|live|native|native-live|locks|lock-owners|wait"
make_session locks w
report alloc text
S=locks report alloc text
is "no allocations: status 2, no output" "2:" "$status:$out"
has "no allocations: how to record them" "$err" "no objects (--data alloc)" "record them with sxsprof alloc"
S=plain report live collapsed
is "what is gone is not known: status 2" "2:" "$status:$out"
has "what is gone is not known: how to record it" "$err" "it is with sxsprof alloc --live on"
try "$SXS" diff --data native -o "$T/none.html" "$T/s" "$T/locks"
is "diff: one of the sessions has no such data: status 2" 2 $status
report alloc text --thread nobody
is "nothing of what was asked for: status 2" 2 $status
has "nothing of what was asked for: how much there is" "$err" "none of its 17 objects is of what was asked for"

# --- damaged files: what can be read is shown, and the file is named
cp -r "$T/s" "$T/cut" && truncate -s 20000 "$T/cut/4242/samples"
S=cut report alloc collapsed
is "a cut file: status 1" 1 $status
has "a cut file: it is named" "$err" "4242/samples" "cut"
has "a cut file: JSON names it, too" "$("$SXS" report --format json "$T/cut" 2>&1 >/dev/null)" "4242/samples: "
cp -r "$T/s" "$T/bad" && python3 - "$T/bad/4242/samples" <<'PY'
import struct, sys
data = bytearray(open(sys.argv[1], "rb").read())
at, costs = 4096 + 16, 0
while True: # the records of the first chunk: size, mark, type
    size, mark, kind = struct.unpack_from("<IHH", data, at)
    if not size:
        break
    if kind == 8:
        costs += 1
        if costs == 1: # it stands for no number of costs
            struct.pack_into("<d", data, at + 24, float("nan"))
        elif costs == 2: # more than can be summed up
            struct.pack_into("<dQ", data, at + 24, 2.0**52, 2**60)
        elif costs == 3: # a name that is not there
            struct.pack_into("<I", data, at + 52, 77)
        elif costs == 4: # a runtime that is not there
            struct.pack_into("<H", data, at + 56, 99)
    at += size
open(sys.argv[1], "wb").write(data)
PY
S=bad report alloc collapsed --by-count
is "damaged costs: status 1, and the others are shown" "1 425" "$status $(awk '{ n += $NF } END { print n }' "$T/out")"
has "damaged costs: a message says so" "$err" "4242/samples: places with damaged records: "
has "a cost without a known type" "$out" "[8.0.29] ? (type) 50"
has "a cost of an unknown runtime" "$out" "[clr99] System.String (type) 50"
finish
