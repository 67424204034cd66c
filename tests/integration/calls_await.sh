#!/bin/sh
# SPDX-License-Identifier: MIT
# calls_await.sh - checks the logical stacks and call trees of await=logical, in release and debug builds.
# The apps "awaits" and "awaitsdebug" compare each logical stack with the stack that they expect.
. "$(dirname "$0")/lib.sh"
need_real 3
[ -e "$BUILD/managed/awaitsdebug/awaitsdebug.dll" ] || skip_all "$0" "the app awaits is not built"

newest=$(echo "$versions" | tail -n 1) # of debug builds, collections and values are tried on this one

run() { # TOOL APP VERSION OPTIONS-OF-APP [OPTION OF sxsprof run]...
    rm -rf "$tmp/out" "$tmp/json"
    tool=$1 app=$2 version=$3 options=$4
    shift 4
    timeout -k 5 120 "$sxsprof" run --quiet --tool "$tool" --only "$app:*" "$@" -o "$tmp/out" -- \
        "$runsxs" --timeout 100 "$version" "$app" "$options" >"$tmp/log" 2>&1
}
# tree EXPRESSION: evaluates a Python expression over the call tree of the last run. In it, the name of an
# awaiter (a function that awaits another one) ends with a star.
#   path(name...)   the nodes with exactly these names on their path, outermost first
#   below(name...)  the number of calls of the last function directly below the others
#   f               the nodes of each function, by name
#   t               all nodes
tree() {
    [ -e "$tmp/json" ] || "$sxsprof" report --format json --single 1000000 "$tmp/out" >"$tmp/json" 2>>"$tmp/log" || return
    python3 - "$tmp/json" "$1" <<'P'
import json, re, sys
r = json.load(open(sys.argv[1]))
t = r["calltree"]
def short(n):
    name = r["functions"][n["function"]]["name"]
    m = re.search(r"\+<(\w+)>d__\d+.*\.MoveNext$", name)
    return (m.group(1) if m else name) + ("*" if n["awaits"] else "")
for n in t:
    n["path"] = (t[n["parent"]]["path"] if n["parent"] is not None else ()) + (short(n),)
def path(*names):
    return [n for n in t if n["path"] == names]
def below(*names): # the path may begin below the root: the first function may not be awaited yet
    return sum(n["calls"] for n in t if n["path"][-len(names):] == names)
f = {}
for n in t:
    f.setdefault(short(n), []).append(n)
sys.exit(not eval(sys.argv[2]))
P
}

for v in $versions; do
    for app in awaits awaitsdebug; do
        run calls:tree,await=logical $app "$v" "rounds=3 depth=20"
        grep -q 'awaits: asked \([0-9]*\) same \1$' "$tmp/log" && ! grep -q 'asked 0' "$tmp/log"
        status=$?
        check "$v, $app: each logical stack is as the app expects: $(grep -o 'asked.*' "$tmp/log")" $status "$tmp/log"
        tree 'below("Tasks*", "Middle*", "Leaf") == 3 * 2 * 3'
        check "$v, $app: the code after an await is below its awaiters in the call tree" $? "$tmp/json"
        tree 'all(n["calls"] == 0 and n["self_ns"] == 0 for n in t if n["awaits"]) and all(n["calls"] for n in t if not n["awaits"])'
        check "$v, $app: awaiters in the call tree have no calls and no self time" $? "$tmp/json"
        tree 'below("Round*", *["Depth*"] * 20, "Leaf") == 3 * 3'
        check "$v, $app: awaits that are nested 20 deep have 20 levels in the call tree" $? "$tmp/json"
        tree 'path("Flow*", "Round*", "Runs*", "Leaf")'
        check "$v, $app: a method that Task.Run started is below its awaiters" $? "$tmp/json"
        tree 'sum(n["self_ns"] for n in t) > 0 and abs(sum(n["self_ns"] for n in t) - sum(n["total_ns"] for n in t if n["parent"] is None)) <= 0.01 * sum(n["self_ns"] for n in t)'
        check "$v, $app: the self times add up to the total times of the root functions" $? "$tmp/json"
    done
    run calls:tree awaits "$v" "rounds=1 depth=5"
    tree 'not [n for n in t if n["awaits"]] and f["Leaf"]'
    check "$v: without await=logical the call tree has no awaiters" $? "$tmp/json"
done

# ---- many threads, while collections move objects --------------------------------------------------
for v in $versions; do
    for app in awaits $([ "$v" = "$newest" ] && echo awaitsdebug); do
        run calls:tree,await=logical $app "$v" "rounds=4 flows=6 depth=20 collect=1"
        grep -q 'awaits: asked \([0-9]*\) same \1$' "$tmp/log" && ! grep -q 'asked 0' "$tmp/log"
        status=$?
        check "$v, $app, during collections: each logical stack is as the app expects: $(grep -o 'asked.*' "$tmp/log")" $status "$tmp/log"
    done
done

# ---- hooks that receive values: these ask the runtime for the first argument ------------------------
for v in $versions; do
    for app in awaits $([ "$v" = "$newest" ] && echo awaitsdebug); do
        run calls:await=logical $app "$v" "rounds=3 depth=20" --values "$app:*"
        grep -q 'awaits: asked \([0-9]*\) same \1$' "$tmp/log" && ! grep -q 'asked 0' "$tmp/log"
        status=$?
        check "$v, $app, with values: each logical stack is as the app expects: $(grep -o 'asked.*' "$tmp/log")" $status "$tmp/log"
        tree 'below("Tasks*", "Middle*", "Leaf") == 3 * 2 * 3 and below("Round*", *["Depth*"] * 20, "Leaf") == 3 * 3'
        check "$v, $app, with values: the code after an await is below its awaiters in the call tree" $? "$tmp/json"
        tree 'sum(bool(re.search(r"[+]<Leaf>d__\d+[.]MoveNext$", w["name"])) and "this = " in (w["arguments"] or "") for w in r["values"]) == sum(n["calls"] for n in f["Leaf"])'
        check "$v, $app, with values: each call of Leaf is recorded with its arguments" $? "$tmp/json"
    done
done

# ---- traced calls -------------------------------------------------------------------------------
run calls:trace,await=logical awaits 9 "rounds=2 depth=5" &&
    "$sxsprof" report --format chrome -o "$tmp/chrome" "$tmp/out" >>"$tmp/log" 2>&1 &&
    python3 - "$tmp/chrome" <<'P' 2>>"$tmp/log"
import json, sys
stacks, seen = {}, 0
for e in json.load(open(sys.argv[1]))["traceEvents"]:
    s = stacks.setdefault((e["pid"], e.get("tid")), [])
    if e["ph"] == "B":
        s.append(e["name"])
        seen += "+<Leaf>" in e["name"] and any("[awaits]" in n for n in s)
    elif e["ph"] == "E":
        s.pop()
assert not any(stacks.values()) and seen
P
check "the trace shows traced calls below their awaiters, and calls nest" $? "$tmp/log"
"$sxsprof" report --format text "$tmp/out" 2>&1 | grep -q 'Flow>d__.*\[awaits\]'
check "the text report marks awaiters" $? "$tmp/log"
"$sxsprof" report --format html -o "$tmp/html" "$tmp/out" >>"$tmp/log" 2>&1 && grep -q '\[awaits\]' "$tmp/html"
check "the page marks awaiters" $? "$tmp/log"
"$sxsprof" run --tool calls:await=maybe -- touch "$tmp/started" >"$tmp/log" 2>&1
[ $? -eq 2 ] && [ ! -e "$tmp/started" ]
check "await=maybe is refused before the program starts" $? "$tmp/log"
finish
