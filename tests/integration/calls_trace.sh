# SPDX-License-Identifier: MIT
# calls_trace.sh - checks traced calls on real runtimes: each counted call has one beginning and one end in
# the trace, calls nest, and the limit of the trace is kept.
. "$(dirname "$0")/lib.sh"
need_real 3

spec="fib=12 threads=4 even=50 throws=10 yields=5 steps=5 generic=3 rounds=2 hops=10"
timeout -k 5 120 "$sxsprof" run --quiet --tool calls:trace,backoff=off --only 'calls:*' -o "$tmp/all" -- "$runsxs" \
    --timeout 100 --bridge 8 calls "$spec" 9 calls "$spec" $net10 calls "$spec" >"$tmp/log" 2>&1
check "a run with traced calls ends with status 0" $? "$tmp/log"
"$sxsprof" report --format chrome -o "$tmp/trace.json" "$tmp/all" 2>>"$tmp/log"
check "the trace of the run is written" $? "$tmp/log"
"$sxsprof" report --format json "$tmp/all" >"$tmp/json" 2>>"$tmp/log"
cat >"$tmp/nested.py" <<'E2'
import collections, json, sys
events = json.load(open(sys.argv[1]))["traceEvents"]
counted = collections.Counter()
for f in json.load(open(sys.argv[2]))["functions"]:
    counted["[%s] %s" % (f["version"], f["signature"])] += f["calls"]
stacks, last, began = collections.defaultdict(list), {}, collections.Counter()
for e in events:
    if e["ph"] not in "BE":
        continue
    key = e["pid"], e["tid"]
    assert e["ts"] >= last.get(key, 0), "back in time"
    last[key] = e["ts"]
    if e["ph"] == "B":
        stacks[key].append(e["name"])
        began[e["name"]] += 1
    else:
        assert stacks[key].pop() == e["name"], "an end that fits no beginning"
assert not any(stacks.values()), "a call without end"
less = {n: (counted[n], began[n]) for n in counted if began[n] != counted[n]}
print("%d calls began and ended, %d counted" % (sum(began.values()), sum(counted.values())), less)
sys.exit(sum(began.values()) == 0 or (len(sys.argv) < 4 and bool(less)))
E2
python3 "$tmp/nested.py" "$tmp/trace.json" "$tmp/json" >"$tmp/nested" 2>&1
check "every counted call begins and ends in the trace, and calls nest" $? "$tmp/nested"

timeout -k 5 120 "$sxsprof" run --quiet --tool calls:trace=1,backoff=off --only 'calls:*' -o "$tmp/few" -- "$runsxs" \
    --timeout 100 9 calls "fib=20 threads=4 even=50 throws=10 yields=5 steps=5 generic=3 rounds=2 hops=0" >"$tmp/log" 2>&1
check "a run with room for few of its calls ends with status 0" $? "$tmp/log"
"$sxsprof" report "$tmp/few" >"$tmp/text" 2>&1
[ "$(sed -n 's/ *\([0-9]*\) beginnings and ends.*/\1/p' "$tmp/text")" -le 65536 ] && grep -q 'more that found no room' "$tmp/text"
check "at most 65,536 beginnings and ends are recorded, and the report counts the others" $? "$tmp/text"
[ "$(cat "$tmp"/few/calls "$tmp"/few/*/calls 2>/dev/null | wc -c)" -le 6000000 ]
check "at the end of the run the file is no longer than its content" $?
"$sxsprof" report --format chrome -o "$tmp/trace.json" "$tmp/few" && "$sxsprof" report --format json "$tmp/few" >"$tmp/json" &&
    python3 "$tmp/nested.py" "$tmp/trace.json" "$tmp/json" few >"$tmp/nested" 2>&1
check "the recorded part of the calls nests" $? "$tmp/nested"
finish
