# SPDX-License-Identifier: MIT
# keep.sh - checks continuous mode in programs with real runtimes: segments follow each other, their sums are
# what the program did outside of the gaps, the oldest are deleted, the ring goes on after kill -9, events keep segments, a full
# disk and requests of other commands do no harm.
. "$(dirname "$0")/lib.sh"
need_real 3
words="nre=20 div=5 gcs=2 loops=1 until=$tmp/stop"
dir=$tmp/ring

# begin NAME OPTION...: start the programs $programs in the background with these options; $pid is their process
begin() {
    local name=$1
    shift
    rm -f "$tmp/stop" "$tmp/pid"
    # shellcheck disable=SC2016 # the shell that is started expands it, and is replaced by the program
    timeout -k 5 170 "$sxsprof" run "$@" -- sh -c 'echo $$ >"$0"; exec "$@"' "$tmp/pid" \
        "$runsxs" --timeout 160 "${programs[@]}" >"$tmp/$name.out" 2>"$tmp/$name.err" &
    run=$!
    wait_until test -s "$tmp/pid"
    pid=$(cat "$tmp/pid")
}
end() { : >"$tmp/stop"; wait "$run"; }
# Python with s, the descriptions of the segments in $dir by number; those that are kept have kept=True.
segments() { python3 - "$dir" "$1" <<'P'
import glob, json, os, sys
s = []
for path in glob.glob(sys.argv[1] + "/2*/segment.json") + glob.glob(sys.argv[1] + "/kept/2*/segment.json"):
    try:
        d = json.load(open(path))
    except FileNotFoundError:
        continue # the ring has just deleted it
    d["name"] = os.path.basename(os.path.dirname(path))
    d["kept"] = "/kept/" in path
    d["events"] = []
    if os.path.exists(os.path.dirname(path) + "/trigger.json"):
        d["events"] = json.load(open(os.path.dirname(path) + "/trigger.json"))["triggers"]
    s.append(d)
s.sort(key=lambda d: d["number"])
sys.exit(0 if eval(sys.argv[2]) else "%s: %s" % (sys.argv[2], json.dumps(s, indent=1)))
P
}
has() { segments "$1" 2>/dev/null; }

# ---- three runtimes, all segments ----

programs=(8 stress "$words" 9 stress "$words" 10 stress "$words")
begin all --segment 2s --tool sample --tool exceptions --tool gc -o "$dir"
wait_until has 'len(s) >= 6'
end
check "the program with segments ends as without" $? "$tmp/all.err"
segments 'all(d["ended_ns"] > d["started_ns"] for d in s) and [d["number"] for d in s] == list(range(1, len(s) + 1))' 2>"$tmp/log"
check "each segment is complete, and its number follows that of the one before" $? "$tmp/log"
segments 'all(b["started_ns"] - a["ended_ns"] in range(b["gap_ns"] - 10**7, b["gap_ns"] + 10**7) for a, b in zip(s, s[1:]))' 2>"$tmp/log"
check "a segment says how long nothing was recorded before it" $? "$tmp/log"
for one in "$dir"/2*; do last=$one; done # a runtime may have ended before it
for one in "$dir"/2*; do
    "$sxsprof" report "$one" >"$tmp/log" 2>&1 || break
    [ "$one" = "$last" ] || { grep -q '8\.0\.' "$tmp/log" && grep -q '10\.0\.' "$tmp/log"; } || break
    one=
done
[ -z "$one" ]
check "each segment is a session that can be reported" $? "$tmp/log"

"$sxsprof" report --format json "$dir" >"$tmp/json" 2>"$tmp/log" && python3 - "$tmp/json" "$tmp/all.out" >"$tmp/log" 2>&1 <<'P'
import json, re, sys
r = json.load(open(sys.argv[1]))
segments = r["segments"]
gap = sum(s["gap_ns"] for s in segments)
whole = segments[-1]["ended_ns"] - segments[0]["started_ns"]
lost = min(1, 3 * gap / whole) # the program is not as busy at all times
for line in open(sys.argv[2]):
    m = re.match(r"stress: \.NET (\S+): .*div (\d+) of .*gcs (\d+) of .*nre (\d+) of", line)
    if not m:
        continue
    version, div, gcs, nre = m.group(1), *map(int, m.groups()[1:])
    seen = {t: sum(e["count"] for e in r["exceptions"] if e["version"] == version and e["type"] == t)
            for t in ("System.NullReferenceException", "System.DivideByZeroException")}
    collections = [g for g in r["runtimes"] if g["version"] == version][0]["gcs"]
    print(version, div, gcs, nre, seen, collections, lost)
    for what, n, of in (("nre", seen["System.NullReferenceException"], nre),
                        ("div", seen["System.DivideByZeroException"], div)):
        assert n <= of, "%s: %d counted of %d" % (what, n, of)
        assert n >= of * (1 - lost) - 50, "%s: %d counted of %d" % (what, n, of)
    assert collections >= gcs * (1 - lost) - 10
assert gap > 0
P
check "all segments together have the program's exceptions and collections outside of the gaps" $? "$tmp/log"
grep -q 'nothing was recorded for .* between them' "$tmp/all.err"
check "run says at its end how long nothing was recorded" $? "$tmp/all.err"

# ---- the ring; kill -9; the same folder again ----

rm -rf "$dir"
begin first --keep 6s --segment 1s --tool sample -o "$dir"
wait_until has 's and s[0]["number"] > 2'
segments 'len([d for d in s if d["ended_ns"]]) <= 9' 2>"$tmp/log"
check "the oldest segments are deleted" $? "$tmp/log"
"$sxsprof" status "$pid" >"$tmp/log" 2>&1
kill -9 "$pid"
wait "$run"
segments 'sum(d["ended_ns"] == 0 for d in s) in (1, 2) and s[-1]["ended_ns"] == 0' 2>"$tmp/log"
check "kill -9 leaves the last segment without an end, or the one before, too" $? "$tmp/log"
last=$(ls "$dir" | sort -t- -k2n | tail -n 1 | sed 's/.*-//')
mkdir "$dir/mine" "$dir/20200101T000000Z-1" "$tmp/other" "$tmp/other/mine"
"$sxsprof" run --keep 6s -o "$tmp/other" -- true 2>"$tmp/second.err"
[ $? -eq 2 ] && grep -q "has 'mine' in it" "$tmp/second.err"
check "a folder that has something else is refused" $? "$tmp/second.err"
rmdir "$dir/mine"
begin second --keep 6s --segment 1s --tool sample -o "$dir"
wait_until has "s and s[0][\"number\"] > $last"
end
check "a ring goes on in the same folder, and deletes what the killed program has left" $? "$tmp/second.err"
[ -d "$dir/20200101T000000Z-1" ]
check "a folder that only has a segment's name is not deleted" $?
rmdir "$dir/20200101T000000Z-1"

# ---- events ----

programs=(9 stress "$words")
rm -rf "$dir"
begin none --segment 1s --keep 60s --on 'exception=NoSuchException' --on 'gc>1h' -o "$dir"
wait_until has 'len(s) >= 4'
end
segments 'not any(d["kept"] for d in s) and all("gc" in d["tools"] and "exceptions" in d["tools"] for d in s)' 2>"$tmp/log"
check "nothing is kept without an event; the tools that conditions need are on" $? "$tmp/log"
rm -rf "$dir"
begin some --segment 1s --keep 60s --on 'exception=DivideByZero*' --on 'gc>0s' -o "$dir"
wait_until has 'len([d for d in s if d["ended_ns"]]) >= 3'
end
segments 'all(d["kept"] and d["ended_ns"] and {e["on"] for e in d["events"]} == {"gc>0s", "exception=DivideByZero*"} for d in s)' 2>"$tmp/log"
check "the segments around events are kept, and say why" $? "$tmp/log"
segments 'all("System.DivideByZeroException was thrown in runtime 1" == e["what"] or e["what"].startswith("a pause of ") for d in s for e in d["events"])' 2>"$tmp/log"
check "an event says what has happened" $? "$tmp/log"
"$sxsprof" report "$dir" >"$tmp/log" 2>&1 && grep -q 'kept by triggers' "$tmp/log"
check "a report has the segments that are kept, too" $? "$tmp/log"

rm -rf "$dir"
begin killed --segment 60s --keep 10m --on 'exception=DivideByZero*' -o "$dir"
has_trigger() { ls "$dir"/2*/trigger.json >/dev/null 2>&1; } # the folder comes later: the pattern is for each try
wait_until has_trigger
kill -9 "$pid"
wait "$run"
begin next --segment 60s --keep 10m -o "$dir"
wait_until has 'len(s) == 2 and s[0]["kept"] and s[0]["events"] and not s[1]["kept"]'
check "an event whose program was killed keeps its segment when the program is started again" $? "$tmp/next.err"
end

# ---- requests ----

rm -rf "$dir"
begin control --segment 1s --keep 60s -o "$dir"
wait_until has 'len(s) >= 2'
# Each line of top is of the segment that runs at that time. On a busy machine a segment lasts for many lines.
timeout 120 "$sxsprof" top --format json --refresh 0.8 -n 140 "$pid" 2>"$tmp/log" | python3 -c '
import json, sys
before, n = None, 0
for line in sys.stdin:
    d = json.loads(line)
    n += 1
    if not d["running"]:
        sys.exit("line %d: it does not run" % n)
    if n > 3 and before is not None and d["duration_ns"] < before: # a later segment
        sys.exit(0)
    before = d["duration_ns"]
sys.exit("%d lines of one segment" % n)' >>"$tmp/log" 2>&1
check "top goes on with the next segment" $? "$tmp/log"
"$sxsprof" top --batch -n 1 "$dir" >"$tmp/log" 2>&1
[ $? -eq 2 ] && grep -q 'segments of continuous mode; expected one of them: 2.*, or the PID' "$tmp/log"
check "top of the ring's folder lists the segments" $? "$tmp/log"
"$sxsprof" start --tool gc -o "$tmp/other" "$pid" >"$tmp/log" 2>&1
[ $? -eq 2 ]
check "another session is refused while segments are recorded" $? "$tmp/log"
"$sxsprof" snapshot --quiet -o "$tmp/snap" "$pid" >"$tmp/log" 2>&1 && "$sxsprof" report "$tmp/snap" >>"$tmp/log" 2>&1
check "a snapshot is one of the running segment" $? "$tmp/log"
"$sxsprof" stop "$pid" >"$tmp/log" 2>&1 && segments 'all(d["ended_ns"] for d in s)' 2>>"$tmp/log"
check "stop completes the segment and ends the ring" $? "$tmp/log"
"$sxsprof" start --keep 60s --segment 1s -o "$tmp/again" "$pid" >"$tmp/log" 2>&1 && grep -q 'is on: sample:rate=19' "$tmp/log" && dir=$tmp/again && wait_until has 'len(s) >= 3'
check "start begins a ring, of samples if no tool is given" $? "$tmp/log"
end
check "the program ends as always" $? "$tmp/control.err"
segments 'all(d["ended_ns"] for d in s)' 2>"$tmp/log"
check "a program that ends completes its last segment" $? "$tmp/log"

# ---- an attach ----

rm -f "$tmp/stop"
timeout -k 5 170 "$runsxs" --timeout 160 9 stress "$words" >"$tmp/plain.out" 2>&1 &
run=$!
wait_until pgrep -P $run -x runsxs >/dev/null
pid=$(pgrep -P $run -x runsxs)
wait_until grep -q 'stress\.dll' "/proc/$pid/maps"
dir=$tmp/attached
timeout -k 5 120 "$sxsprof" attach --keep 60s --segment 1s -o "$dir" "$pid" >"$tmp/log" 2>&1 &
attach=$!
wait_until has 'len(s) >= 4'
kill -INT "$(pgrep -P $attach -x sxsprof)"
wait $attach
check "attach records segments until Ctrl-C" $? "$tmp/log"
segments 'len(s) >= 4 and all(d["ended_ns"] for d in s)' 2>"$tmp/log"
check "its segments are complete" $? "$tmp/log"
"$sxsprof" status "$pid" >"$tmp/log" 2>&1 && grep -q 'picked, detached' "$tmp/log" && grep -q "sxsprof sample -p $pid begins a session" "$tmp/log"
check "after the detach, status says that the runtime is detached, and what begins a session" $? "$tmp/log"
"$sxsprof" start --tool sample -o "$tmp/late" "$pid" >"$tmp/log" 2>&1
[ $? -eq 2 ] && grep -q 'sxsprof sample -p' "$tmp/log"
check "start says so, too" $? "$tmp/log"
end
check "the program that was attached to ends as always" $? "$tmp/plain.out"

# ---- wrong settings ----

wrong() { # VARIABLE=VALUE TEXT
    rm -rf "$tmp/wrong"
    env "$1" CORECLR_ENABLE_PROFILING=1 "CORECLR_PROFILER=$clsid" "CORECLR_PROFILER_PATH=$PWD/$BUILD/libsxsprof.so" \
        "SXSPROF_OUT=$tmp/wrong" timeout -k 5 100 "$runsxs" --timeout 90 9 hello "" >"$tmp/out" 2>"$tmp/log" &&
        [ "$(grep -c '^sxsprof: ' "$tmp/log")" -eq 1 ] && grep -q "$2" "$tmp/log" && [ ! -e "$tmp/wrong" ]
}
clsid=$(sed -n 's/.*SXSPROF_CLSID "\(.*\)".*/\1/p' include/sxsprof.h)
wrong SXSPROF_KEEP=ten "SXSPROF_KEEP: 'ten': expected a time"
check "a wrong variable is one line, and the program runs on" $? "$tmp/log"
wrong SXSPROF_BUDGET=1% "SXSPROF_BUDGET: expected keep"
check "SXSPROF_BUDGET without SXSPROF_KEEP or SXSPROF_ON, likewise" $? "$tmp/log"

# ---- a full disk ----

mkdir -m 700 "$tmp/small"
if mount -t tmpfs -o size=4m,mode=700 tmpfs "$tmp/small" 2>/dev/null; then
    trap 'umount "$tmp/small"; rm -rf "$tmp"' EXIT
    dir=$tmp/small/ring
    begin full --keep 10m --segment 1s --tool sample --tool exceptions -o "$dir"
    wait_until has 'len(s) >= 2'
    # There is some room left, but not for all files of a segment.
    free=$(df -k --output=avail "$tmp/small" | tail -n 1)
    [ "$free" -le 700 ] || head -c $(((free - 700) * 1024)) /dev/zero >"$tmp/small/other"
    wait_until has 's and s[0]["number"] > 3'
    end
    check "a program whose disk is full ends as without a profiler" $? "$tmp/full.err"
    [ "$(grep -c 'the disk is full: the oldest segments are deleted' "$tmp/full.err")" -ge 1 ]
    check "a full disk is told, and the oldest segments make room" $? "$tmp/full.err"
else
    ok "a full disk # SKIP needs mount"
fi
finish
