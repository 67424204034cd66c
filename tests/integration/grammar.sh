#!/bin/bash
# SPDX-License-Identifier: MIT
# grammar.sh - one sentence for all recordings: WHAT, then a command or -p and a process, -d and -o. What -o names
# is what sxsprof report makes of the session, and each recording verb takes the same.
. "$(dirname "$0")/lib.sh"
need_real 2
version=$(real_versions | tail -n 1)
version=${version%%.*}
cd "$tmp" || exit 1
for name in sxsprof runsxs; do # the build folder may be relative
    path=${!name}
    [ "${path#/}" = "$path" ] && eval "$name=\$OLDPWD/\$path"
done
seen() { [ -s "$1" ] && grep -q "$2" "$1"; }
# recorded CLAIM ARGUMENT...: a recording of a command succeeds.
recorded() {
    local claim=$1
    shift
    timeout -k 5 120 "$sxsprof" "$@" >"$tmp/out" 2>"$tmp/log"
    check "$claim" $? "$tmp/log"
}
app=("$runsxs" --timeout 100 "$version" shares "alpha=60 beta=40 seconds=1")

# ---- a command: a folder, files, both
recorded "a folder and files from one recording" sample -o kept -o a.html -o a.svg -o a.json -o a.pb.gz -o a.collapsed \
    -o a.speedscope.json -o a.chrome.json -o a.firefox.json -o a.txt -o a.sxsprof -- "${app[@]}"
for format in svg collapsed speedscope text; do
    case $format in text) file=a.txt ;; speedscope) file=a.speedscope.json ;; *) file=a.$format ;; esac
    "$sxsprof" report --format $format kept >expected 2>"$tmp/log" && cmp "$file" expected >"$tmp/log" 2>&1
    check "the file of format $format is what report makes of the folder" $? "$tmp/log"
done
python3 - a.json kept <<'P' >"$tmp/log" 2>&1
import json, sys
report = json.load(open(sys.argv[1]))
assert report["profile"], list(report)
P
check "the file .json is that of report" $? "$tmp/log"
seen a.html 'Shares.Program.Alpha' && seen a.chrome.json Alpha && seen a.firefox.json Alpha && gzip -t a.pb.gz &&
    "$sxsprof" report a.sxsprof >"$tmp/log" 2>&1 && grep -q Alpha "$tmp/log"
check "and so are the others" $? "$tmp/log"
python3 - a.svg a.collapsed <<'P' >"$tmp/log" 2>&1
# The picture against the stacks: each function's boxes have together the share that its stacks have.
import collections, re, sys, xml.etree.ElementTree as ET
boxes, all_width = collections.Counter(), 0
for g in ET.parse(sys.argv[1]).getroot().iter("{http://www.w3.org/2000/svg}g"):
    title = g.find("{http://www.w3.org/2000/svg}title").text
    name, rest = title.rsplit(" - ", 1)
    share = float(rest.rsplit(", ", 1)[1].rstrip(" %"))
    if name == "all":
        all_width = float(g.find("{http://www.w3.org/2000/svg}rect").get("width"))
        assert share == 100, title
    boxes[name] += share
    assert abs(float(g.find("{http://www.w3.org/2000/svg}rect").get("width")) / (all_width or 1) * 100 - share) < 0.1, title
total, sums = 0, collections.Counter()
for line in open(sys.argv[2]):
    stack, weight = line.rsplit(" ", 1)
    total += int(weight)
    for frame in set(stack.split(";")[1:]):
        sums[frame] += int(weight)
for name in ("Alpha", "Beta", "Main"):
    [full] = [n for n in sums if n.endswith("Shares.Program." + name)]
    assert abs(boxes[full] - 100 * sums[full] / total) < 0.02, (full, boxes[full], 100 * sums[full] / total)
print(boxes.most_common(4))
P
check "the picture .svg has the shares of the stacks" $? "$tmp/log"
before=$(ls -A | sort)
recorded "a file alone" sample -o b.svg -- "${app[@]}"
[ "$(ls -A | sort | grep -vx 'b.svg')" = "$before" ] && seen b.svg 'Shares.Program.Alpha' && grep -q 'b.svg is written' "$tmp/log" &&
    ! grep -q 'is kept' "$tmp/log"
check "keeps no session" $? "$tmp/log"
timeout -k 5 120 "$sxsprof" gc --quiet -o gc.svg -- "$runsxs" --timeout 100 "$version" stress gcs=5 >"$tmp/out" 2>"$tmp/log"
[ $? != 0 ] && kept=$(sed -n 's/^sxsprof: the session is kept in //p' "$tmp/log") && [ -n "$kept" ] && [ ! -e gc.svg ] &&
    "$sxsprof" report "$kept" >"$tmp/out" 2>"$tmp/err" && grep -q 'collections' "$tmp/out"
check "a session that a format cannot show is kept, not lost" $? "$tmp/log"
rm -rf "${kept:?}"
recorded "--format writes to standard output" sample --quiet -f collapsed -- "${app[@]}"
grep -q 'Shares.Program.Alpha' "$tmp/out"
check "what was recorded" $? "$tmp/out"
recorded "-o - is the text" sample --quiet -o - -- "${app[@]}"
grep -q 'top functions' "$tmp/out"
check "on standard output" $? "$tmp/out"
recorded "--format holds for a name without an ending" sample -f svg -o picture -- "${app[@]}"
[ -f picture ] && grep -q '<svg' picture
check "which is a file then" $? "$tmp/log"
recorded "record takes several tools, and their options" record sample,alloc:live=on,interval=100k,gc --rate 499 -o several -- "$runsxs" \
    --timeout 100 "$version" stress gcs=5
"$sxsprof" report --format json several >several.json 2>"$tmp/log"
python3 - several.json <<'P' >>"$tmp/log" 2>&1
import json, sys
r = json.load(open(sys.argv[1]))
assert r["profile"] and r["allocations"], list(r)
P
check "and all have recorded" $? "$tmp/log"

recorded "heap records all objects at the end of a command" heap -o objects.html -o at-exit -- "$runsxs" --timeout 100 \
    "$version" memory keep:small=5000
"$sxsprof" heap at-exit >"$tmp/out" 2>"$tmp/log" && grep -q 'Memory.Small' "$tmp/out" && seen objects.html 'Memory.Small'
check "and writes them" $? "$tmp/log"

# ---- a time
cat >late.sh <<'SH'
"$1" --timeout 100 "$2" shares "alpha=60 beta=40 seconds=60" >/dev/null &
one=$!
for n in $(seq 600); do [ -e d.svg ] && break; sleep 0.1; done
[ -e d.svg ] && echo "written while it runs"
kill $one
wait $one 2>/dev/null
"$1" --timeout 100 "$2" shares "alpha=60 beta=40 seconds=0" >/dev/null 2>late.log && echo "a later one runs"
SH
recorded "a command with -d runs on" sample -d 8s -o d.svg -o timed -- sh late.sh "$runsxs" "$version"
grep -q "written while it runs" "$tmp/out" && grep -q "a later one runs" "$tmp/out"
check "and the picture is there when the time is over" $? "$tmp/log"
[ "$(find timed -mindepth 1 -maxdepth 1 -type d | wc -l)" = 1 ] && ! grep -q sxsprof late.log
check "processes that start later record nothing, and say nothing" $? late.log

# ---- a process
"$runsxs" --timeout 300 "$version" shares "alpha=60 beta=40 seconds=200" >"$tmp/app" 2>&1 &
pid=$!
shows() { "$sxsprof" ps | grep -q "^ *$pid "; }
wait_until shows
recorded "a process by its number, into a file" sample -p $pid -d 3s -o p.collapsed
grep -q 'Shares.Program.Alpha' p.collapsed
check "has its functions" $? p.collapsed
for verb in alloc locks wait exceptions events gc; do
    recorded "$verb of a process" $verb -p $pid -d 1s -o "of-$verb" -o "of-$verb.json"
    python3 -c 'import json,sys; json.load(open(sys.argv[1]))' "of-$verb.json" 2>"$tmp/log"
    check "$verb of a process, as JSON" $? "$tmp/log"
done
timeout 60 "$sxsprof" doctor -p $pid >"$tmp/out" 2>"$tmp/log" && grep -q 'answers on its diagnostics port' "$tmp/out" &&
    grep -q 'tool calls is left out' "$tmp/out"
check "doctor says what can be recorded in it" $? "$tmp/out"
timeout 60 "$sxsprof" heap -p $pid >"$tmp/out" 2>"$tmp/log"
[ $? = 2 ] && grep -q "record heap:now -p $pid" "$tmp/log"
check "heap says how objects of a process without the library are recorded" $? "$tmp/log"
recorded "which works" record heap:now -p $pid -d 10s -o objects
"$sxsprof" heap objects >"$tmp/out" 2>"$tmp/log" && grep -q 'System.String' "$tmp/out"
check "and has its objects" $? "$tmp/out"
cat >rules.xml <<'X'
<instrumentation xmlns="urn:sxsprof:instrumentation:1">
  <rule name="burn"><match assembly="*" type="Shares.Program" method="CpuNow"/><count/></rule>
</instrumentation>
X
recorded "instrument of a process" instrument rules.xml -p $pid -d 5s -o instrumented
! grep -q 'left out' "$tmp/log" && grep -q 'Shares.Program.CpuNow (burn)' "$tmp/log"
check "whose rules apply, by a relative path" $? "$tmp/log"
timeout 60 "$sxsprof" calls -p $pid -d 1s -o none >"$tmp/log" 2>&1
[ $? = 2 ] && grep -q 'accepts enter and leave hooks only when it starts' "$tmp/log" && [ ! -e none ]
check "what a running process cannot do is refused with the reason, and leaves nothing" $? "$tmp/log"
kill $pid
wait $pid 2>/dev/null

# ---- refused before anything starts
refused() { # CLAIM TEXT ARGUMENT...
    local claim=$1 text=$2
    shift 2
    timeout 60 "$sxsprof" "$@" >"$tmp/out" 2>"$tmp/log"
    [ $? = 2 ] && grep -qF -- "$text" "$tmp/log" && [ ! -e started ]
    check "refused: $claim" $? "$tmp/log"
}
refused "a command and a process" "expected either a command or -p" sample -p 1 -- touch started
refused "an ending of a format that sxsprof does not write" "writes no .jfr files" sample -o x.jfr -- touch started
refused "two folders" "expected one folder" sample -o one -o two -- touch started
refused "a file in a folder that is not there" "expected a file that can be written" sample -o none/x.html -- touch started
refused "an option for commands with a process" "--adopt cannot be used with a process that runs already" sample -p 1 --adopt
refused "an option of no tool" "none of the tools has this option" record sample,gc --live on -- touch started
refused "a tool that is none" "there is no such tool" record sample,frob -- touch started
refused "no tool" "TOOLS is missing" record -- touch started
refused "a file with --background" "expected a folder" sample -p 1 --background -o x.html
refused "a format that is none" "expected text" sample -f frob -- touch started
finish
