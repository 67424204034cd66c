# SPDX-License-Identifier: MIT
# events.sh - checks the tool "events" on real runtimes: collections, suspensions, compilations, threads, and
# loads of modules and classes.
. "$(dirname "$0")/lib.sh"
need_real 3

rm -rf "$tmp/s"
timeout -k 5 100 "$sxsprof" run --quiet --tool events:classes -o "$tmp/s" -- "$runsxs" --timeout 90 \
    8 stress gcs=30 9 stress gcs=30 $net10 stress gcs=30 >"$tmp/log" 2>&1 &&
    "$sxsprof" report --format json "$tmp/s" >"$tmp/s.json" 2>>"$tmp/log"
check "a run of three runtimes ends with status 0 and can be reported" $? "$tmp/log"

says() { # CLAIM EXPRESSION: in Python, for each runtime; e are its events, k(kind) those of a kind, r its row
    python3 - "$tmp/s.json" "$2" >"$tmp/said" 2>&1 <<'E2'
import json, sys
all_of_it = json.load(open(sys.argv[1]))
for r in all_of_it["runtimes"]:
    e = [v for v in all_of_it["events"] if v["runtime"] == r["runtime"]]
    def k(kind, **like):
        return [v for v in e if v["kind"] == kind and all(v.get(n) == w for n, w in like.items())]
    def lies_in(inner, outer):
        return outer["time_ns"] <= inner["time_ns"] and \
            inner["time_ns"] + inner["duration_ns"] <= outer["time_ns"] + outer["duration_ns"]
    if not eval(sys.argv[2], dict(globals(), k=k, r=r, e=e, lies_in=lies_in)):
        sys.exit("not so in %s: %s\n%s" % (r["version"], sys.argv[2], [v for v in e if v["kind"] != "class load"][:40]))
assert len(all_of_it["runtimes"]) == 3
E2
    check "$1" $? "$tmp/said"
}
says "collections: as many as in the table of runtimes, each with its duration; induced ones are marked" \
    "len(k('gc')) == r['gcs'] and len(k('gc', induced=True)) >= 30 and all(v['duration_ns'] > 0 and v['generation'] in (0, 1, 2) for v in k('gc'))"
says "each collection is within a suspension" \
    "all(any(lies_in(g, s) for s in k('suspension')) for g in k('gc'))"
says "suspensions have a reason and the time until all threads had stopped" \
    "len(k('suspension', reason='garbage collection')) >= 30 and all(0 <= s['stopping_ns'] <= s['duration_ns'] for s in k('suspension'))"
says "compilations: every method has one, with its time, size and tier" \
    "len(k('jit')) == r['methods'] and all(v['duration_ns'] > 0 and v['bytes'] > 0 for v in k('jit')) and len(k('jit', tier='tier 0')) > 50 and not k('jit', tier='') and not k('jit', tier='unknown')"
says "compilations have the names of methods, not numbers" \
    "any(v['name'].startswith('Stress.Program.Main(') for v in k('jit')) and not any('[method' in v['name'] for v in k('jit'))"
says "the sum of all compilations is less than the time of all threads" \
    "0 < sum(v['duration_ns'] for v in k('jit')) < 100e9"
says "modules: as many as in the table of runtimes, with their files" \
    "len(k('module load')) == r['modules'] and any(v['name'].endswith('/stress.dll') for v in k('module load'))"
says "loads of classes are recorded with events:classes" \
    "any(v['name'] == 'System.Object' for v in k('class load')) and any(v['name'].startswith('Stress.') for v in k('class load'))"
says "threads: as many as in the table of runtimes, with names and ends" \
    "len(k('thread')) == r['threads_created'] and any(v['duration_ns'] for v in k('thread')) and any(v['name'].startswith('.NET TP Worker') and v['tid'] for v in k('thread name'))"

# The text report and the trace.
"$sxsprof" report "$tmp/s" >"$tmp/text" 2>&1
check "the text report is written" $? "$tmp/text"
grep -q 'gc, generation 2' "$tmp/text" && grep -q 'methods by time to compile' "$tmp/text"
check "the text report has collections and methods" $? "$tmp/text"
"$sxsprof" report --format chrome -o "$tmp/chrome" "$tmp/s" >"$tmp/log" 2>&1 &&
    python3 - "$tmp/chrome" "$tmp/s.json" >"$tmp/log" 2>&1 <<'E2'
import json, sys
trace = json.load(open(sys.argv[1]))["traceEvents"]
events = json.load(open(sys.argv[2]))["events"]
for kind in ("gc", "jit", "suspension", "module load", "class load"):
    shown = [t for t in trace if t.get("cat") == kind]
    assert len(shown) == len([e for e in events if e["kind"] == kind]) > 0, kind
    assert all(t["ph"] == "X" and t["ts"] >= 0 and t["dur"] >= 0 and t["tid"] for t in shown), kind
E2
check "the trace has every event, on its thread" $? "$tmp/log"
finish
