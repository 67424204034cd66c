# SPDX-License-Identifier: MIT
# calls_gaps.sh - checks the coverage gaps that the report lists for the tool "calls" on real runtimes.
# A coverage gap is a function that is not instrumented, or whose calls are not counted. Each has a number
# and a reason.
. "$(dirname "$0")/lib.sh"
need_real 3
[ -e "$BUILD/managed/calls/calls.dll" ] || skip_all "$0" "the app calls is not built"

record() { # TOOL [OPTION OF sxsprof]... -- COMMAND...
    rm -rf "$tmp/s"
    tool=$1
    shift
    timeout -k 5 120 "$sxsprof" run --quiet --tool "$tool" -o "$tmp/s" "$@" >"$tmp/log" 2>&1 &&
        "$sxsprof" report --format json "$tmp/s" >"$tmp/json" 2>>"$tmp/log" &&
        "$sxsprof" report "$tmp/s" >"$tmp/text" 2>>"$tmp/log"
}
says() { # CLAIM EXPRESSION: in Python; n(kind) is {name: (count, detail)}, f is {name: calls}
    python3 - "$tmp/json" "$2" >"$tmp/said" 2>&1 <<'E2'
import json, sys
top = json.load(open(sys.argv[1]))
def n(kind):
    return {u["name"].split("(")[0]: (u["count"], u["detail"]) for u in top["unseen"] if u["kind"] == kind}
f = {}
for g in top["functions"]:
    f[g["name"]] = f.get(g["name"], 0) + g["calls"]
if not eval("(%s)" % sys.argv[2]):
    sys.exit("not so: %s\n%s" % (sys.argv[2], "\n".join(str(u) for u in top["unseen"])))
E2
    check "$1" $? "$tmp/said"
}
tells() { grep -qF -- "$2" "$tmp/text"; check "$1" $? "$tmp/text"; }

for v in $versions; do
    record calls --only 'calls:Calls.Unseen*' --only 'calls:*.NoSuch' --only 'None*:*' --only '7/calls:*' -- \
        "$runsxs" --timeout 100 "$v" calls unseen=100000
    check "$v: a run ends with status 0" $? "$tmp/log"
    "$sxsprof" report --format html -o "$tmp/html" "$tmp/s" >>"$tmp/log" 2>&1 && python3 - "$tmp/json" "$tmp/html" >"$tmp/said" 2>&1 <<'E2'
import json, sys
page = open(sys.argv[2]).read()
begin = page.index('id="data">') + 10
groups = json.loads(page[begin:page.index("</script>", begin)])["unseen"]
on_page = [(number, why, *(row or ["", "", total])) for _, number, _, why, total, _, _, rows in groups for row in rows or [None]]
in_json = [(u["runtime"], u["why"], u["name"], u["detail"], u["count"]) for u in json.load(open(sys.argv[1]))["unseen"]]
assert on_page == in_json and len(on_page) > 10, (on_page, in_json)
E2
    check "$v: the page lists the same coverage gaps as the JSON report" $? "$tmp/said"
    says "$v: methods that were never called, generic or not, are listed as never compiled" \
        "set(n('never compiled')) == {'Calls.Unseen.NeverCalled', 'Calls.Unseen.NeverMade', 'Calls.Unseen+Untouched.Same'}"
    says "$v: methods without IL are listed as abstract, native or runtime" "set(n('abstract')) == {'Calls.Unseen+Shape.Sides'} and
        set(n('native')) == {'Calls.Unseen.Length'} and
        set(n('runtime')) == {'Calls.Unseen+Twice.' + m for m in ('.ctor', 'Invoke', 'BeginInvoke', 'EndInvoke')}"
    says "$v: a dynamic method and the stub of a P/Invoke are listed" \
        "n('dynamic method') == {'UnseenDynamic': (1, '')} and n('stub')['IL_STUB_PInvoke'][0] >= 1"
    says "$v: every call is counted, because the tool prevents inlining" \
        "f['Calls.Unseen.Small'] == 100000 and not n('inlined') and n('kept from being inlined')[''][0] >= 1"
    says "$v: methods that were compiled again have one row in total" "n('compiled again')[''][0] >= 1"
    says "$v: patterns that match nothing are listed with the reason" "{p: 'function' in d for p, (c, d) in n('pattern').items()} ==
        {'calls:*.NoSuch': True, 'None*:*': False, '7/calls:*': False}"
    tells "$v: the text report warns of a pattern that matches nothing" 'warning: nothing fits the pattern calls:*.NoSuch: its assembly has no such function'
    tells "$v: the text report names a method that was never called" 'Calls.Unseen.NeverCalled'

    record calls:inline=on --only 'calls:Calls.Unseen*' -- "$runsxs" --timeout 100 "$v" calls unseen=100000
    check "$v: a run with inlining ends with status 0" $? "$tmp/log"
    says "$v: an inlined function is listed with its caller" \
        "n('inlined')['Calls.Unseen.Small'][1].startswith('never compiled on its own, in Calls.Unseen.Loop(System.Int32) (')"
    says "$v: an inlined function has no counted calls" "f.get('Calls.Unseen.Small', 0) == 0 and not n('kept from being inlined')"
    says "$v: an inlined function is not listed as never compiled" "'Calls.Unseen.Small' not in n('never compiled')"

    record calls --only 'System.Private.CoreLib:System.Math.S*' -- "$runsxs" --timeout 100 "$v" calls unseen=10
    says "$v: an intrinsic is listed, an ordinary method of the same class is not" "'System.Math.Sqrt' in n('intrinsic') and 'System.Math.Abs' not in n('intrinsic')"
done
DOTNET_TieredPGO=0 record calls -- "$runsxs" --timeout 100 9 calls unseen=10
says "a DOTNET_ variable that is set is listed" "n('settings')[''] == (0, 'DOTNET_TieredPGO=0 DOTNET_FastTailCalls=0')"
says "without patterns, no method is listed as never compiled" "not n('never compiled') and not n('pattern')"

# In a runtime that started before the profiler was attached, functions cannot be hooked.
clsid=$(sed -n 's/.*SXSPROF_CLSID "{\(.*\)}".*/\1/p' include/sxsprof.h)
SXSPROF_OUT=$tmp/late SXSPROF_TOOLS=calls timeout -k 5 200 "$runsxs" --timeout 180 9 stress "until=$tmp/until" >"$tmp/log" 2>&1 &
run=$!
runs() { pid=$(pgrep -P $run -x runsxs) && grep -q 'stress\.dll' "/proc/$pid/maps"; }
wait_until runs
python3 tests/integration/attach.py "$pid" "$clsid" "$PWD/$BUILD/libsxsprof.so" >>"$tmp/log" 2>&1
: >"$tmp/until"
wait $run
check "a program to whose runtime the profiler was attached ends with status 0" $? "$tmp/log"
"$sxsprof" report --format json "$tmp/late" >"$tmp/json" 2>>"$tmp/log"
says "the report says that the profiler was attached to this runtime, and has no calls" "'' in n('attached') and not f"
finish
