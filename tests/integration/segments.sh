#!/bin/bash
# SPDX-License-Identifier: MIT
# segments.sh - a folder of segments that three real runtimes in one process have recorded: its report is the sum of its
# segments' reports; --from and --to cut it without loss; sxsprof push --follow sends every segment once, also one that
# was moved to kept/, and tells of what was deleted too early.
. "$(dirname "$0")/lib.sh"
need_real 3
export TZ=UTC
receiver=
push=
program=
trap 'kill $receiver $push $program 2>/dev/null; rm -rf "$tmp"' EXIT
ring=$tmp/ring
mkdir "$ring"
complete() { grep -l '"ended_ns":[1-9]' "$ring"/2*/segment.json 2>/dev/null | wc -l; }
has() { [ "$(complete)" -ge "$1" ]; }
(
    eval "$("$sxsprof" env -o "$ring" 2>/dev/null | grep -v '^export SXSPROF_TOOLS')"
    SXSPROF_KEEP=600s SXSPROF_SEGMENT=2s SXSPROF_TOOLS='sample:cpu=199;exceptions;gc' \
        exec timeout -k 5 170 "$runsxs" --timeout 160 8 stress "until=$tmp/end" 9 stress "until=$tmp/end" 10 stress "until=$tmp/end"
) >"$tmp/log" 2>&1 &
program=$!
wait_until has 3
: >"$tmp/end"
wait $program
status=$?
program=
check "three runtimes are recorded in $(complete) segments" $status "$tmp/log"
segments=("$ring"/2*)

# ---- report
report() { "$sxsprof" report "$@" 2>>"$tmp/err"; } # a folder last
: >"$tmp/err"
n=0
ones=()
one_stacks=()
for s in "${segments[@]}"; do
    n=$((n + 1))
    report --format json "$s" >"$tmp/$n.json" && report --data samples --format collapsed "$s" >"$tmp/$n.stacks" ||
        not_ok "segment $n is read by itself" "$tmp/err"
    ones+=("$tmp/$n.json")
    one_stacks+=("$tmp/$n.stacks")
done
report --format json "$ring" >"$tmp/all.json" &&
    python3 -B tests/integration/segments.py sums "$tmp/all.json" "${ones[@]}" >"$tmp/out"
check "JSON: one process, and the counts are the sums of the segments" $? "$tmp/out"
report --data samples --format collapsed "$ring" >"$tmp/all.stacks" &&
    python3 -B tests/integration/segments.py stacks "$tmp/all.stacks" "${one_stacks[@]}" >"$tmp/out"
check "the stacks have the sums of the segments' weights, to the nanosecond" $? "$tmp/out"
middle=$(python3 -c "import json,sys; s=json.load(open(sys.argv[1]))['segments']; print((s[0]['started_ns'] + s[-1]['ended_ns']) // 2 // 10**9)" "$tmp/all.json")
report --data samples --format collapsed --to "@$middle" "$ring" >"$tmp/before" &&
    report --data samples --format collapsed --from "@$middle" "$ring" >"$tmp/behind" &&
    python3 -B tests/integration/segments.py stacks "$tmp/all.stacks" "$tmp/before" "$tmp/behind" >"$tmp/out" && [ -s "$tmp/before" ] && [ -s "$tmp/behind" ]
check "--from and --to divide the samples without loss" $? "$tmp/out"
for format in html pprof speedscope chrome firefox; do
    report --format $format -o "$tmp/formatted" "$ring" && [ -s "$tmp/formatted" ]
    check "--format $format writes it" $? "$tmp/err"
done
report "$ring" >"$tmp/text" && grep -q "^segments: ${#segments[@]}, from " "$tmp/text" && grep -q 'nothing was recorded for' "$tmp/text" &&
    [ "$(grep -c '^process .*runsxs' "$tmp/text")" -eq 1 ]
check "the text says how many segments there are, and what lies between them" $? "$tmp/text"
"$sxsprof" diff -o "$tmp/diff" "${segments[0]}" "$ring" 2>>"$tmp/err" && [ -s "$tmp/diff" ]
check "a segment can be compared with all of them" $? "$tmp/err"
for verb in heap pack; do
    "$sxsprof" $verb "$ring" >"$tmp/out" 2>&1
    [ $? -eq 2 ] && grep -q "${#segments[@]} segments .*$(basename "${segments[0]}")" "$tmp/out"
    check "$verb names the segments" $? "$tmp/out"
done
(cd "$tmp" && "$OLDPWD/$sxsprof" report --data samples --format collapsed 2>/dev/null) | cmp -s - "$tmp/all.stacks"
check "without DIR, a folder of segments is found, too" $? "$tmp/err"

# ---- push
mkdir "$tmp/kept"
python3 tests/command/push_receiver.py "$tmp/kept" >"$tmp/port" 2>"$tmp/log" &
receiver=$!
wait_until test -s "$tmp/port"
to=http://127.0.0.1:$(cat "$tmp/port")
received() { python3 -B tests/integration/segments.py batches "$tmp/kept"; }
requests() { find "$tmp/kept" -name '*.pprof' | wc -l; }
"$sxsprof" push --server "$to" --period 1s "$ring" >"$tmp/out" 2>&1
check "push sends all segments" $? "$tmp/out"
all=$(received)
rm -f "$tmp/kept"/[0-9]*
newest=${segments[-1]}
# A command in the background ignores SIGINT until it sets a handler, in the child that reads.
catches() {
    local reader
    reader=$(pgrep -P "$push" | head -n 1) && grep -q '^SigCgt:.*[2367abef]$' "/proc/$reader/status"
}
follow() { # until COMMAND succeeds
    "$sxsprof" push --server "$to" --period 1s --follow "$ring" --queue "$tmp/queue" >"$tmp/follow" 2>&1 &
    push=$!
    wait_until catches
    wait_until "$@"
    local waited=$?
    kill -INT $push
    wait $push
    status=$?
    push=
    return $waited
}
# The file that describes a segment is damaged, or another one was put in its place.
cp -r "$newest" "$tmp/damaged-ring" && mkdir "$tmp/d" && mv "$tmp/damaged-ring" "$tmp/d/$(basename "$newest")"
file=$tmp/d/$(basename "$newest")/segment.json
for text in '' '[[[[' '{"sxsprof_segment":1,"pid":"x","number":[],"started_ns":-1,"adapted":7}'; do
    printf %s "$text" >"$file"
    timeout 60 "$sxsprof" report "$tmp/d" >"$tmp/out" 2>"$tmp/log"
    [ $? -eq 1 ] && grep -q 'segment.json: damaged' "$tmp/log" && grep -q '^segments: 1, ' "$tmp/out"
    check "report says that a segment's file is damaged ('$text'), and shows the segment" $? "$tmp/log"
done
arrived() { [ "$(received)" -ge "$1" ]; }
# A segment comes later, and another one is moved in the meantime.
mv "$newest" "$tmp/later"
follow arrived 1
mkdir "$ring/kept"
mv "${segments[0]}" "$ring/kept/"
mv "$tmp/later" "$newest"
follow arrived "$all" && [ $status -eq 0 ]
check "push --follow sends each segment, and ends with status 0" $? "$tmp/follow"
at_end() { grep -q "\"$(basename "$newest")/.*: 9223372036854775807" "$tmp/queue/state"; }
follow at_end
[ "$(received)" = "$all" ] && [ "$(requests)" = "$(received)" ] && [ $status -eq 0 ]
check "after a new start, and with a segment in kept/, nothing is sent again ($all batches)" $? "$tmp/follow"
# What the ring deletes too early: numbers that are missing, and a segment of which only a part was sent.
number=${newest##*-}
cp -r "$newest" "${newest%-*}-$((number + 4))"
follow grep -q "segments $((number + 1)) to $((number + 3)): 3 of them were deleted" "$tmp/follow" && [ $status -eq 1 ]
check "missing numbers are lost segments, and the status is 1" $? "$tmp/follow"
python3 - "$tmp/queue/state" "-$((number + 4))/" <<'P'
import json, sys
state = json.load(open(sys.argv[1]))
for key in state["positions"]:
    if sys.argv[2] in key:
        state["positions"][key] = 1700000000 * 10**9
json.dump(state, open(sys.argv[1], "w"))
P
rm -r "${newest%-*}-$((number + 4))"
follow grep -q -- "-$((number + 4)) was deleted before its end was pushed: what it had after 22:13:20 is lost" "$tmp/follow" && [ $status -eq 1 ]
check "a segment that was deleted in the middle is told with its time" $? "$tmp/follow"
finish
