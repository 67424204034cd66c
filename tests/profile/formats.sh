#!/bin/bash
# SPDX-License-Identifier: MIT
# formats.sh - checks every report format of sessions with known numbers, most of them with another program
# that reads the format. TAP. BUILD names the build folder. SHOTS: folder of screenshots (default: removed at
# the end).
. "$(dirname "$0")/lib.sh"
SHOTS=${SHOTS:-$T}

compile make_samples
"$T/make_samples" "$T/s" known || exit 1
compile make_calls
compile make_events
for kind in count tree trace hole values many; do "$T/make_calls" "$T/calls-$kind" $kind || exit 1; done
report() { "$REPORT" "$1" "${S:-$T/s}" "$T/out.$1" "${@:2}" 2>"$T/err"; }

# ---- text and collapsed ----
report text
is "text: a whole session ends with status 0" 0 $?
text=$(cat "$T/out.text")
has "text: self of a function, with its tier" "$text" " 39.22 %   39.22 %  [9.0.18] App.Hot.Spin(int) (tier 0)"
has "text: GC has the samples of the GC thread and of libclrgc.so" "$text" "  9.80 %  GC"
has "text: JIT has the samples of libclrjit.so" "$text" "  4.90 %  JIT"
has "text: the share of a runtime, and of the code that it called" "$text" "  0.00 %  runtime 1, 8.0.29 (55.88 % with it on the stack)"
has "text: the reasons of broken walks" "$text" " 20  frame pointer leads nowhere"
has "text: the requested and the reached rate" "$text" "asked for 200 samples a second of CPU time, reached 200"
has "text: the number of dropped samples" "$text" "7 dropped"
report collapsed
want='main [100];[8.0.29] App.Program.Main;[8.0.29] App.Bridge.Call;[native] libcoreclr.so!?;[9.0.18] App.Hot.Spin 2000000000'
has "collapsed: a stack through two runtimes" "$(cat "$T/out.collapsed")" "$want"
is "collapsed: old and new code at one address are separated by time" "125000000 125000000" \
    "$(sed -n 's/.*App.\(New\|Old\).Method //p' "$T/out.collapsed" | paste -sd' ')"
is "collapsed: modules at one address are separated by time" "50000000 50000000" \
    "$(sed -n 's/.*lib\(plugin\|other\).so!? //p' "$T/out.collapsed" | paste -sd' ')"
has "collapsed: a native name from the ELF file" "$(cat "$T/out.collapsed")" "[native] make_samples!known_native_leaf 500000000"
is "collapsed: the weights of all samples add up" 5100000000 "$(awk '{ n += $NF } END { printf "%.0f\n", n }' "$T/out.collapsed")"
report collapsed runtime=3
is "runtime=3: the stacks of that runtime only" "worker [101];[10.0.11] App.Loop.Start;[10.0.11] App.Loop.Run 1500000000" "$(cat "$T/out.collapsed")"
report collapsed only=managed thread=main
is "only=managed thread=main: managed frames of that thread only" "2850000000 0" \
    "$(awk '{ n += $NF } END { printf "%.0f\n", n }' "$T/out.collapsed") $(grep -c native "$T/out.collapsed")"
report text thread=nobody
is "thread=nobody: no sample is left, status 2" 2 $?
report nonsense
is "an unknown format: status 3" 3 $?
cp -r "$T/s" "$T/cut" && truncate -s -100000 "$T/cut/4242/samples"
S=$T/cut report text
is "a cut file: the whole part is shown, status 1" "1 yes" "$? $(grep -q App "$T/out.text" && echo yes)"
mkdir "$T/none" && "$REPORT" text "$T/none" - >/dev/null 2>"$T/err"
is "no samples: status 2" 2 $?
"$T/make_samples" "$T/s2" known 1 && "$T/make_samples" "$T/s2" known 2
S=$T/s2 report collapsed process=2
is "process=2: the samples of that process only" 5100000000 "$(awk '{ n += $NF } END { printf "%.0f\n", n }' "$T/out.collapsed")"
S=$T/s2 report collapsed
has "several processes: the PID precedes the thread" "$(cat "$T/out.collapsed")" "1/worker [101];"

# ---- JSON formats ----
report chrome
is "chrome: the events of Hot.Spin last 2 s" "2.0" "$(python3 - "$T/out.chrome" <<'PY'
import json, sys
events = json.load(open(sys.argv[1]))["traceEvents"]
print(round(sum(e["dur"] for e in events if e["ph"] == "X" and "Hot.Spin" in e["name"]) / 1e6, 2))
PY
)"
report firefox
is "firefox: the columns of a table have one length, and indexes are in range" "4 400" "$(python3 - "$T/out.firefox" <<'PY'
import json, sys
profile = json.load(open(sys.argv[1]))
hits = 0
for t in profile["threads"]:
    for name in ("frameTable", "funcTable", "stackTable", "samples", "markers", "resourceTable"):
        for key, column in t[name].items():
            assert not isinstance(column, list) or len(column) == t[name]["length"], (name, key)
    stacks, frames = t["stackTable"], t["frameTable"]
    assert all(p is None or p < i for i, p in enumerate(stacks["prefix"]))
    assert all(c < len(profile["meta"]["categories"]) for c in frames["category"])
    for s in t["samples"]["stack"]:
        while s is not None:
            func = frames["func"][stacks["frame"][s]]
            if "Hot.Spin" in t["stringArray"][t["funcTable"]["name"][func]]:
                hits += 1
                break
            s = stacks["prefix"][s]
print(len(profile["threads"]), hits)
PY
)"

# ---- pprof ----
report pprof
if command -v go >/dev/null 2>&1; then
    top=$(HOME=$T GOFLAGS=-mod=mod go tool pprof -top -sample_index=samples "$T/out.pprof" 2>"$T/err") || cat "$T/err"
    has "pprof: go tool pprof counts all samples" "$top" "Total samples = 1020"
    has "pprof: self of a function" "$top" "400 39.22% 39.22%        400 39.22%  [9.0.18] App.Hot.Spin(int)"
    focus=$(HOME=$T go tool pprof -top -sample_index=samples -tagfocus=class=GC "$T/out.pprof" 2>/dev/null)
    has "pprof: the class is a label" "$focus" "100"
else
    skip "pprof: go tool pprof" "no go here (Debian: golang-go)"
fi

# ---- calls ----
S=$T/calls-tree report collapsed
has "calls: the weights of collapsed are own times, in ns" "$(cat "$T/out.collapsed")" \
    "main [100];[8.0.29] App.Program.Main;[8.0.29] App.Work.Outer 50000000"
S=$T/calls-count report collapsed
has "calls without time: the weights of collapsed are numbers of calls" "$(cat "$T/out.collapsed")" "worker [101];[9.0.18] App.Work.Inner 200"
S=$T/calls-tree report collapsed runtime=3
is "calls: runtime=3: the stacks of that runtime only" 100000000 "$(awk '{ n += $NF } END { printf "%.0f\n", n }' "$T/out.collapsed")"
S=$T/calls-tree report collapsed thread=main
is "calls: thread=main: the calls of that thread only" 900000000 "$(awk '{ n += $NF } END { printf "%.0f\n", n }' "$T/out.collapsed")"
S=$T/calls-tree report chrome
is "calls: chrome without traced calls has no content: status 2" 2 $?
report collapsed data=calls
is "data=calls of a session that has samples only: status 2" 2 $?
cp -r "$T/s" "$T/both" && cp "$T/calls-tree/4242/calls" "$T/both/4242/"
S=$T/both report collapsed
is "a session with samples and calls: samples are the default" 5100000000 "$(awk '{ n += $NF } END { printf "%.0f\n", n }' "$T/out.collapsed")"
S=$T/both report collapsed data=calls
is "a session with samples and calls: data=calls selects calls" 1000000000 "$(awk '{ n += $NF } END { printf "%.0f\n", n }' "$T/out.collapsed")"
check_events() {
    python3 - "$1" <<'PY'
import collections, json, sys
events = json.load(open(sys.argv[1]))["traceEvents"]
stacks, last, n, inner = collections.defaultdict(list), {}, 0, 0
for e in events:
    if e["ph"] not in "BE":
        continue
    key = e["pid"], e["tid"]
    assert e["ts"] >= last.get(key, 0), "back in time"
    last[key] = e["ts"]
    if e["ph"] == "B":
        stacks[key].append(e)
        n += 1
    else:
        b = stacks[key].pop()
        assert b["name"] == e["name"], "an end that fits no beginning"
        if "Inner" in e["name"]:
            assert e["cat"] == ".NET 9.0.18"
            inner += e["ts"] - b["ts"]
assert not any(stacks.values()), "a call that never ends"
print(n, round(inner))
PY
}
S=$T/calls-hole report chrome
is "calls: begin and end events match although 19 are missing" "ok" "$(check_events "$T/out.chrome" >"$T/events" 2>&1 && echo ok || cat "$T/events")"
S=$T/calls-trace report chrome
is "calls: 366 begin and end events, the calls of Inner last 120 ms" "366 120000" "$(check_events "$T/out.chrome")"
cp "$T/out.chrome" "$T/trace.json"
S=$T/calls-tree report firefox
is "calls: the weights of firefox are own times, in ms" "2 1000.0" "$(python3 - "$T/out.firefox" <<'PY'
import json, sys
threads = json.load(open(sys.argv[1]))["threads"]
for t in threads:
    s = t["samples"]
    assert s["weightType"] == "tracing-ms" and s["length"] == len(s["stack"]) == len(s["time"]) == len(s["weight"])
print(len(threads), round(sum(sum(t["samples"]["weight"]) for t in threads), 3))
PY
)"
S=$T/calls-tree report speedscope
is "calls: the weights of speedscope are own times, in ns" "2 1000000000" "$(python3 - "$T/out.speedscope" <<'PY'
import json, sys
profiles = json.load(open(sys.argv[1]))["profiles"]
assert all(p["unit"] == "nanoseconds" for p in profiles)
print(len(profiles), sum(sum(p["weights"]) for p in profiles))
PY
)"
S=$T/calls-tree report pprof
if command -v go >/dev/null 2>&1; then
    has "calls: pprof has numbers of calls" "$(HOME=$T go tool pprof -top -sample_index=calls "$T/out.pprof" 2>/dev/null)" \
        "350 95.63% 95.63%        350 95.63%  [9.0.18] App.Work.Inner(System.Int32)"
    has "calls: pprof has times of calls" "$(HOME=$T go tool pprof -top "$T/out.pprof" 2>/dev/null)" \
        "[8.0.29] App.Program.Main(System.String[])"
fi
CMD=$BUILD/sxsprof
want='         100   50.00 ms  [8.0.29] App.Work.Outer(System.Int32)
          50   50.00 ms  [8.0.29] App.Program.Main(System.String[])
         200   20.00 ms  [10.0.11] App.Loop.Run()'
has "calls: --callers lists the callers of Inner" "$("$CMD" report --callers Work.Inner "$T/calls-tree")" "$want"
is "calls: --callers without call paths says so once" \
    "process $(basename "$T"/calls-count/[0-9]*): callers were not recorded; they are with sxsprof calls" \
    "$("$CMD" report --callers Work.Inner "$T/calls-count")"
has "calls: --callers: a pattern with * must match the whole name" "$("$CMD" report --callers 'Work.I*' "$T/calls-tree")" "no function that was called is named Work.I*"
text=$("$CMD" report "$T/calls-tree")
has "calls: one tree for all threads" "$text" "  5.00 %   50.00 ms   50.00 ms          100      [9.0.18] App.Work.Inner(System.Int32)"
has "calls: functions that were never called are listed" "$text" "but never compiled, as nobody called them: 1
              App.Work.Idle"
has "calls: a pattern that nothing matches gives a warning" "$text" "warning: nothing fits the pattern none:App.*: no runtime"
is "calls: --depth 1 has the first functions of threads" 2 "$("$CMD" report --depth 1 "$T/calls-tree" | grep -c ' % .*App')"
is "calls: --by-thread has a tree for each thread" 2 "$("$CMD" report --by-thread "$T/calls-tree" | grep -c '^thread ')"
has "calls: --thread has the functions of that thread" "$("$CMD" report --thread worker "$T/calls-tree")" "         200   20.00 ms   20.00 ms         -"
is "a session with samples and calls: text has both" "2" "$("$CMD" report "$T/both" | grep -cE '^(top functions by self|call tree of process)')"
is "calls: JSON has the tree and histograms" "6 366 350 1000000000" "$("$CMD" report --format json "$T/calls-tree" | python3 -c '
import json, sys
d = json.load(sys.stdin)
tree, functions = d["calltree"], d["functions"]
assert all(n["parent"] is None or n["parent"] < i for i, n in enumerate(tree))
inner = next(f for f in functions if f["name"] == "App.Work.Inner")
print(len(tree), sum(n["calls"] for n in tree), sum(h["calls"] for h in inner["histogram"]), sum(n["self_ns"] for n in tree))')"

# ---- events, beside samples, calls, both and neither ----
"$T/make_events" "$T/only-events" && cp -r "$T/calls-trace" "$T/calls-events" && cp -r "$T/s" "$T/all" &&
    cp "$T/calls-trace/4242/calls" "$T/all/4242/" && "$T/make_events" "$T/calls-events" && "$T/make_events" "$T/all" || exit 1
line() { # prints numbers of the timeline of the page $T/out.html
    python3 - "$T/out.html" <<'PY'
import json, sys
page = open(sys.argv[1]).read()
begin = page.index('id="data">') + 10
data = json.loads(page[begin:page.index("</script>", begin)])
line, digits = data["line"], "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
def numbers(text, fields):
    out, value, unit = [], 0, 1
    for c in text:
        d = digits.index(c)
        value, unit = value + (d & 31) * unit, unit * 32
        if d < 32:
            out.append(value)
            value, unit = 0, 1
    return [out[i:i + fields] for i in range(0, len(out), fields)]
calls = 0
for t in line["threads"]:
    now, open_ = 0, []
    for delta, ns, frame, depth in numbers(t[6], 4):
        now += delta
        del open_[depth:]
        assert len(open_) == depth and frame < len(data["frames"]), "a call without its caller"
        assert not open_ or now + ns <= open_[-1], "longer than its caller"
        open_.append(now + ns)
        calls += 1
ticks = sum(len(numbers(t[7], 2)) for t in line["threads"])
spans = numbers(line["spans"], 10)
assert len(spans) == line["nSpans"] and all(s[3] <= len(line["threads"]) and s[5] < len(data["strings"]) for s in spans)
print(len(spans), len(line["exceptions"]), sum(s[8] for s in line["sites"]), calls, line["left"]["calls"][0], ticks)
PY
}
S=$T/only-events report html
is "html of events alone: 42 events, 4 exceptions in detail of 13" "0 42 4 13 0 0 0" "$? $(line)"
S=$T/calls-events report html
is "html of calls and events" "0 42 4 13 366 0 0" "$? $(line)"
S=$T/calls-events report html most=50
is "html: the longest 50 calls, the limit of the page" "42 4 13 50 316 0" "$(line)"
# values: prints of the page the numbers of: texts, bytes of texts, calls with values, calls with arguments
# and result, calls left by an exception, calls whose values are left out, and the time of these calls
values() {
    python3 - "$T/out.html" <<'PY'
import json, sys
page = open(sys.argv[1]).read()
begin = page.index('id="data">') + 10
data = json.loads(page[begin:page.index("</script>", begin)])
line, digits = data["line"], "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
def numbers(text):
    value, unit = 0, 1
    for c in text:
        d = digits.index(c)
        value, unit = value + (d & 31) * unit, unit * 32
        if d < 32:
            yield value
            value, unit = 0, 1
texts, values = line["texts"], []
for t in line["threads"]:
    call, frames = 0, list(numbers(t[6]))[2::4]
    for ahead, arguments, result in zip(*[numbers(t[8])] * 3):
        call += ahead
        values.append((data["strings"][data["frames"][frames[call]][0]], texts[arguments], texts[result >> 1], result & 1))
for name, arguments, result, unwound in values:
    if "Outer" in name and arguments and result:
        n = int(result) - 100
        assert arguments == f'n = {n}, what = "round <{n}>"', values
    else:
        assert "Outer" in name or ("Run" in name and arguments == "last = true" and unwound and not result), values
assert not any("round <" in s for s in data["strings"]), "texts among the names"
print(len(texts), sum(map(len, texts)), len(values), sum(bool(t[1] and t[2]) for t in values), sum(t[3] for t in values), *line["left"]["values"])
PY
}
S=$T/calls-values report html
is "html: arguments and results of 11 calls" "22 291 11 10 1 0 0" "$(values)"
S=$T/calls-values report html most=20
is "html: values of the longest calls, within the limit of the page" "15 160 9 5 1 5 10000000" "$(values)"
S=$T/calls-trace report html
is "html: calls without values" "0 0 0 0 0 0 0" "$(values)"
S=$T/calls-values report chrome
is "chrome: arguments and results" '10 10' "$(python3 - "$T/out.chrome" <<'PY'
import json, sys
events = json.load(open(sys.argv[1]))["traceEvents"]
print(sum("round <" in e.get("args", {}).get("arguments", "") for e in events), sum(e.get("args", {}).get("result", "").startswith("10") for e in events))
PY
)"
S=$T/calls-hole report html
is "html: calls nest although events are missing" "0 0 0 $(cut -d' ' -f1 "$T/events")" "$(line | cut -d' ' -f1-4)"
S=$T/all report html
is "html of samples, calls and events" "42 4 13 366 0 1020" "$(line)"
S=$T/all report html most=100
is "html: some samples, within the limit of the page" "366 95" "$(line | awk '{ print $4 + $5, $6 }')"
S=$T/only-events report html thread=101
is "html: the events of one thread" "3 0" "$(line | cut -d' ' -f1,2)"
S=$T/only-events report html runtime=3
is "html: the events of one runtime" "3 0 0" "$(line | cut -d' ' -f1-3)"
report html
is "html of samples alone: the suspensions are shown" "2 0 0 0 0 1020" "$(line)"
S=$T/calls-events report chrome
is "chrome: calls and events of one session" "366 5 4" "$(python3 - "$T/out.chrome" <<'PY'
import json, sys
events = json.load(open(sys.argv[1]))["traceEvents"]
print(sum(e["ph"] == "B" for e in events), sum(e.get("cat") == "gc" for e in events), sum(e.get("cat") == "exception" for e in events))
PY
)"

# ---- calls traced by instrumentation: alone with events, beside samples, among calls of the tool calls ----
compile make_instrument
cp -r "$T/only-events" "$T/traced" && cp -r "$T/s" "$T/traced-s" && cp -r "$T/calls-values" "$T/traced-calls" || exit 1
for kind in traced traced-s traced-calls; do "$T/make_instrument" "$T/$kind" || exit 1; done
# traced: prints of make_instrument's 40 calls in $T/out.chrome: number, depth, threads, arguments, results,
# exceptions
traced() {
    python3 - "$T/out.chrome" <<'PY'
import collections, json, sys
events = [e for e in json.load(open(sys.argv[1]))["traceEvents"] if e["ph"] in "BE" and e["name"].endswith("] added")]
args = collections.Counter(k + " " + v.split()[-1] if k != "arguments" else k for e in events for k, v in e["args"].items())
deep, most = 0, 0
for e in events:
    deep += 1 if e["ph"] == "B" else -1
    most = max(most, deep)
print(sum(e["ph"] == "B" for e in events), most, *sorted({e["tid"] for e in events}), *sorted(f"{k}: {n}" for k, n in args.items()))
PY
}
want="arguments: 40 exception Shop.Wrong: 20 result 2: 20"
S=$T/traced report chrome
is "traced: chrome has each call with its label, nesting, arguments, result and exception" "40 4 100 $want" "$(traced)"
is "traced: begin and end events match" "40 0" "$(check_events "$T/out.chrome")"
S=$T/traced-s report chrome
is "traced: beside samples the calls have a lane of their own" "40 4 $((100 + (1 << 30))) $want" "$(traced)"
has "traced: the lane has a name" "$(cat "$T/out.chrome")" '"name":"main [100], traced"'
S=$T/traced-calls report chrome
is "traced: the calls are in the lane of the same thread's other traced calls" "40 100 $want" "$(traced | cut -d' ' -f1,3-)"
is "traced: all calls of the lane nest" 406 "$(check_events "$T/out.chrome" | cut -d' ' -f1)"
for kind in traced traced-s traced-calls; do
    S=$T/$kind report html
    is "$kind: html has the traced calls" "$([ $kind = traced-calls ] && echo 406 || echo 40)" "$(line | cut -d' ' -f4)"
done
# A page of samples also shows data of other files, which may be damaged.
for file in calls traced; do
    cp -r "$T/all" "$T/beside" && "$T/make_instrument" "$T/beside" && truncate -s -1000 "$T/beside/4242/$file" || exit 1
    S=$T/beside report html
    is "a page of samples: a cut file $file gives status 1 and a message that names it" "1 1" "$? $(grep -c "$file: .*cut" "$T/err")"
    echo more >>"$T/beside/4242/census"
    S=$T/beside report html
    is "a page of samples: one message names a damaged census" "1 1" "$(grep -c "$file: .*cut" "$T/err") $(grep -c "census: " "$T/err")"
    rm -r "$T/beside"
done
# The traced method has a frame, but no measured durations.
cp -r "$T/calls-many" "$T/traced-many" && "$T/make_instrument" "$T/traced-many" || exit 1
cp -r "$T/traced-many" "$T/sampled-many" && cp "$T/s/4242/samples" "$T/sampled-many/4242/" || exit 1
for kind in traced-many sampled-many; do
    for format in html chrome; do
        S=$T/$kind report $format
        is "$kind: 64 functions and a traced method as $format" 0 $?
    done
done
S=$T/traced-many report html
is "traced-many: durations are of the functions that were called" "App.Loop.Run() App.Program.Main(System.String[]) App.Work.Inner(System.Int32) App.Work.Outer(System.Int32)" "$(python3 - "$T/out.html" <<'PY'
import json, sys
page = open(sys.argv[1]).read()
begin = page.index('id="data">') + 10
data = json.loads(page[begin:page.index("</script>", begin)])
print(*sorted(data["strings"][data["frames"][l[0]][0]] for l in data["latencies"]))
PY
)"
S=$T/traced report chrome runtime=2
is "traced: runtime=2: no call of runtime 1" 0 "$(grep -c '"ph":"B"' "$T/out.chrome")"
is "JSON: --single 3 lists 3 of 40 traced calls" "40 3" "$("$CMD" report --format json --single 3 "$T/traced" 2>"$T/err" |
    python3 -c 'import json, sys; d = json.load(sys.stdin); print(d["traced_calls"], len(d["values"]))')"
has "JSON: --single 3: a message says how many calls are left out" "$(cat "$T/err")" "the first 3 of 40 single calls"
is "JSON: --single 10 lists traced calls of both tools" "366 40 13" "$("$CMD" report --format json --single 10 "$T/traced-calls" 2>"$T/err" |
    python3 -c 'import json, sys; d = json.load(sys.stdin); print(d["single_calls"], d["traced_calls"], len(d["values"]) - 7)')"

# ---- with a browser ----
report html
report speedscope
is "html: nothing is loaded from elsewhere" 0 "$(grep -cE '(src|href)="https?:|@import|url\(http' "$T/out.html")"
if [ -n "${SAN:-}" ]; then
    skip "html and speedscope in a browser" "the pages are the same without sanitizers"
elif ! NODE_MODULES=$(sh setup/browser.sh --present 2>"$T/lacks"); then
    skip "html and speedscope in a browser" "$(cat "$T/lacks")"
else
    export NODE_MODULES
    cp "$T/out.html" "$T/known.html"
    timeout 600 node tests/profile/page.mjs "$T/known.html" "$SHOTS" known || failed=1
    timeout 300 node tests/profile/speedscope.mjs "$T/out.speedscope" "$SHOTS" || failed=1
    S=$T/calls-trace report html
    timeout 600 node tests/profile/page.mjs "$T/out.html" "$SHOTS" calls || failed=1
    S=$T/calls-count report html
    timeout 600 node tests/profile/page.mjs "$T/out.html" "$SHOTS" count || failed=1
    timeout 300 node tests/profile/speedscope_trace.mjs "$T/trace.json" "$SHOTS" || failed=1
    "$REPORT" diff "$T/calls-tree" "$T/diff.html" "$T/calls-trace" 2>/dev/null
    is "calls: diff writes a page" 0 $?
    timeout 600 node tests/profile/page.mjs "$T/diff.html" "$SHOTS" calls-diff || failed=1
    timeline() { # SESSION NAME [ARGUMENT OF page_timeline.mjs]...
        "$CMD" report --format json "$1" >"$T/timeline.json" 2>"$T/err"
        timeout 600 node tests/profile/page_timeline.mjs "$T/out.html" "$SHOTS" "$2" "$T/timeline.json" "${@:3}" || failed=1
    }
    S=$T/only-events report html
    timeline "$T/only-events" events loads=1
    S=$T/calls-events report html
    timeline "$T/calls-events" calls calls=366
    S=$T/calls-events report html most=50
    timeline "$T/calls-events" most calls=50 left=316
    S=$T/calls-trace report html
    timeline "$T/calls-trace" only-calls calls=366
    S=$T/calls-values report html
    timeline "$T/calls-values" values calls=366 values=1
    S=$T/calls-values report html most=20
    timeline "$T/calls-values" some-values calls=20 left=346 values=1 valuesleft=5
    S=$T/traced report html
    timeline "$T/traced" traced calls=40 traced=1
    S=$T/traced-calls report html
    timeline "$T/traced-calls" traced-calls calls=406
    S=$T/all report html
    timeline "$T/all" all calls=366
    gaps() { grep -c '^"unseen":' "$T/out.html"; }
    is "coverage gaps of calls are also shown beside samples" 1 "$(gaps)"
    S=$T/all report html runtime=3
    is "coverage gaps of one runtime only" "none:App.*" \
        "$(sed -n '/^"unseen":/,/<\/script>/p' "$T/out.html" | grep -oE 'none:App[^"]*|lambda|Idle' | sort -u)"
    S=$T/s report html
    timeline "$T/s" samples
    "$T/make_samples" "$T/b" known 4242 150
    "$REPORT" diff "$T/s" "$T/diff.html" "$T/b" 2>/dev/null
    is "diff writes a page" 0 $?
    timeout 600 node tests/profile/page.mjs "$T/diff.html" "$SHOTS" diff || failed=1
    "$T/make_samples" "$T/big" scale 100000 300000
    S=$T/big report html
    timeout 600 node tests/profile/page.mjs "$T/out.html" "$SHOTS" scale || failed=1
fi
exit $failed
