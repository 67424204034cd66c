# SPDX-License-Identifier: MIT
# timeline.sh - records all kinds of events on real runtimes, and compares the page's timeline with them.
# Where a browser is installed, the page is also opened in the browser.
. "$(dirname "$0")/lib.sh"
need_real 3
[ -e "$BUILD/managed/calls/calls.dll" ] || skip_all "$0" "the app calls is not built"
: "${SHOTS:=$tmp}"

app="fib=12 threads=3 even=20 throws=8 yields=10 steps=8 generic=10 rounds=2 storm=20"
timeout -k 5 120 "$sxsprof" run --quiet --tool sample --tool events:classes --tool exceptions --tool calls:trace,backoff=off \
    --only 'calls:*' -o "$tmp/all" -- "$runsxs" --timeout 100 8 calls "$app" 9 calls "$app" $net10 stress gcs=20 >"$tmp/log" 2>&1
check "three runtimes run with four tools" $? "$tmp/log"
timeout -k 5 60 "$sxsprof" run --quiet --tool events --tool exceptions -o "$tmp/events" -- "$runsxs" --timeout 50 \
    8 stress gcs=20 9 stress gcs=20 $net10 stress gcs=20 >"$tmp/log" 2>&1
check "three runtimes run with the tools events and exceptions alone" $? "$tmp/log"
cat >"$tmp/rules.xml" <<'E2'
<?xml version="1.0"?><instrumentation xmlns="urn:sxsprof:instrumentation:1">
<rule><match assembly="instrumented" type="Instrumented.Work" method="Fib"/><trace arguments="*" label="fibonacci"/></rule>
</instrumentation>
E2
SXSPROF_INSTRUMENT=$tmp/rules.xml timeout -k 5 60 "$sxsprof" run --quiet --tool instrument:rate=0 -o "$tmp/traced" -- "$runsxs" --timeout 50 \
    8 instrumented "rounds=1 fib=12" 9 instrumented "rounds=1 fib=12" $net10 instrumented "rounds=1 fib=12" >"$tmp/log" 2>&1
check "three runtimes run with traced methods alone" $? "$tmp/log"
"$sxsprof" report --format json "$tmp/traced" >"$tmp/traced.json" 2>"$tmp/log" &&
    "$sxsprof" report --format html -o "$tmp/traced.html" "$tmp/traced" 2>"$tmp/log" &&
    "$sxsprof" report --format chrome -o "$tmp/traced.chrome" "$tmp/traced" 2>"$tmp/log" && python3 - "$tmp" >"$tmp/said" 2>&1 <<'E2'
import collections, json, sys
d = json.load(open(sys.argv[1] + "/traced.json"))
events = [e for e in json.load(open(sys.argv[1] + "/traced.chrome"))["traceEvents"] if e["ph"] in "BE"]
open_, begun, wrong = collections.defaultdict(list), collections.Counter(), []
for e in events: # the results of the calls that a call makes add up to its own result
    stack = open_[e["tid"]]
    if e["ph"] == "B":
        assert e["name"].endswith("] fibonacci"), e
        stack.append((int(e["args"]["arguments"].split()[-1]), []))
        begun[e["cat"]] += 1
    else:
        n, inner = stack.pop()
        assert int(e["args"]["result"]) == (sum(inner) if n > 1 else n), (n, inner, e)
        if stack:
            stack[-1][1].append(int(e["args"]["result"]))
assert not any(open_.values())
assert len(begun) == 3 and sum(begun.values()) == d["traced_calls"] == sum(s["calls"] for s in d["instrument"]), begun
E2
check "the chrome format has begin and end of each traced call, nested as called, with argument and result" $? "$tmp/said"

# Compare d, the session as JSON, with l, the timeline of the page.
for s in all events; do
    "$sxsprof" report --format json "$tmp/$s" >"$tmp/$s.json" 2>"$tmp/log"
    "$sxsprof" report --format html -o "$tmp/$s.html" "$tmp/$s" 2>"$tmp/log"
    check "$s: report writes a page" $? "$tmp/log"
    python3 - "$tmp/$s.html" "$tmp/$s.json" >"$tmp/said" 2>&1 <<'E2'
import json, sys
page, d = open(sys.argv[1]).read(), json.load(open(sys.argv[2]))
begin = page.index('id="data">') + 10
l = json.loads(page[begin:page.index("</script>", begin)])["line"]
assert l["nSpans"] == len(d["events"]) > 500, (l["nSpans"], len(d["events"]))
assert sum(s[8] for s in l["sites"]) == sum(x["count"] for x in d["exceptions"]) > 100
assert l["nCalls"] == sum(f["calls"] for f in d.get("functions", [])), l["nCalls"]
tids = {t[1] for t in l["threads"]}
assert {e["tid"] for e in d["events"] if e["tid"]} <= tids
E2
    check "$s: the page has the events, exceptions and calls of the session" $? "$tmp/said"
done

if ! NODE_MODULES=$(sh setup/browser.sh --present 2>"$tmp/lacks"); then
    ok "in a browser # SKIP $(cat "$tmp/lacks")"
    finish
fi
export NODE_MODULES
calls=$(python3 -c 'import json, sys; print(sum(f["calls"] for f in json.load(open(sys.argv[1]))["functions"]))' "$tmp/all.json")
traced=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["traced_calls"])' "$tmp/traced.json")
for s in all events traced; do
    set -- "$tmp/$s.html" "$SHOTS" "real-$s" "$tmp/$s.json"
    [ $s = all ] && set -- "$@" "calls=$calls"
    [ $s = traced ] && set -- "$@" "calls=$traced" traced=1
    timeout -k 5 600 node tests/profile/page_timeline.mjs "$@" >"$tmp/tap" 2>&1
    status=$?
    check "$s: the page in a browser: $(grep -c '^ok' "$tmp/tap") claims hold" $status "$tmp/tap"
done
finish
