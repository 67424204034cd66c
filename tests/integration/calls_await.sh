#!/bin/sh
# SPDX-License-Identifier: MIT
# await=logical: logical stacks and call trees are what the program knows, in release and debug builds.
. "$(dirname "$0")/lib.sh"
need_real 3
[ -e "$BUILD/managed/awaitsdebug/awaitsdebug.dll" ] || skip_all "$0" "the app awaits is not built"

run() { # tool app version options [more of sxsprof run]
    rm -rf "$tmp/out"
    tool=$1 app=$2 version=$3 options=$4
    shift 4
    timeout -k 5 120 "$sxsprof" run --quiet --tool "$tool" --calls "$app:*" "$@" -o "$tmp/out" -- \
        "$runsxs" --timeout 100 "$version" "$app" "$options" >"$tmp/log" 2>&1
}
# tree EXPRESSION: of path(name...), the nodes of the call tree below these, outermost first, a name that awaits
# with a star; of below(name...), calls of the last right below these; of f, functions by name; of t, the tree.
tree() {
    "$sxsprof" report --format json --single 1000000 "$tmp/out" >"$tmp/json" 2>>"$tmp/log" && python3 - "$tmp/json" "$1" <<'P'
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
def below(*names): # calls of the last one, below the others; who is first may not have been awaited yet himself
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
        check "$v, $app: $(grep -o 'asked.*' "$tmp/log"): each is as the program knows" $status "$tmp/log"
        tree 'below("Tasks*", "Middle*", "Leaf") == 3 * 2 * 3'
        check "$v, $app: what goes on after an await lies below those who await it" $? "$tmp/json"
        tree 'all(n["calls"] == 0 and n["self_ns"] == 0 for n in t if n["awaits"]) and all(n["calls"] for n in t if not n["awaits"])'
        check "$v, $app: those who await have no calls and no time of their own there" $? "$tmp/json"
        tree 'below("Round*", *["Depth*"] * 20, "Leaf") == 3 * 3'
        check "$v, $app: 20 deep" $? "$tmp/json"
        tree 'path("Flow*", "Round*", "Runs*", "Leaf")'
        check "$v, $app: through Task.Run" $? "$tmp/json"
        tree 'sum(n["self_ns"] for n in t) > 0 and abs(sum(n["self_ns"] for n in t) - sum(n["total_ns"] for n in t if n["parent"] is None)) <= 0.01 * sum(n["self_ns"] for n in t)'
        check "$v, $app: times add up" $? "$tmp/json"
    done
    run calls:tree awaits "$v" "rounds=1 depth=5"
    tree 'not [n for n in t if n["awaits"]] and f["Leaf"]'
    check "$v: await=physical is what it was" $? "$tmp/json"
done

# ---- objects that move, many threads --------------------------------------------------------------
for v in $versions; do
    for app in awaits awaitsdebug; do
        run calls:tree,await=logical $app "$v" "rounds=4 flows=6 depth=20 collect=1"
        grep -q 'awaits: asked \([0-9]*\) same \1$' "$tmp/log" && ! grep -q 'asked 0' "$tmp/log"
        status=$?
        check "$v, $app, collections all the while: $(grep -o 'asked.*' "$tmp/log")" $status "$tmp/log"
    done
done

# ---- hooks that are handed values: they ask the runtime for the first argument ----------------------
for v in $versions; do
    for app in awaits awaitsdebug; do
        run calls:await=logical $app "$v" "rounds=3 depth=20" --values "$app:*"
        grep -q 'awaits: asked \([0-9]*\) same \1$' "$tmp/log" && ! grep -q 'asked 0' "$tmp/log"
        status=$?
        check "$v, $app, with values: $(grep -o 'asked.*' "$tmp/log"): each is as the program knows" $status "$tmp/log"
        tree 'below("Tasks*", "Middle*", "Leaf") == 3 * 2 * 3 and below("Round*", *["Depth*"] * 20, "Leaf") == 3 * 3'
        check "$v, $app, with values: what goes on after an await lies below those who await it" $? "$tmp/json"
        tree 'sum(bool(re.search(r"[+]<Leaf>d__\d+[.]MoveNext$", w["name"])) and "this = " in (w["arguments"] or "") for w in r["values"]) == sum(n["calls"] for n in f["Leaf"])'
        check "$v, $app, with values: each call of Leaf has its arguments" $? "$tmp/json"
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
check "single calls lie below those who await them, and nest" $? "$tmp/log"
"$sxsprof" report --format text "$tmp/out" 2>&1 | grep -q 'Flow>d__.*\[awaits\]'
check "the text marks those who await" $? "$tmp/log"
"$sxsprof" report --format html -o "$tmp/html" "$tmp/out" >>"$tmp/log" 2>&1 && grep -q '\[awaits\]' "$tmp/html"
check "the page too" $? "$tmp/log"
"$sxsprof" run --tool calls:await=maybe -- touch "$tmp/started" >"$tmp/log" 2>&1
[ $? -eq 2 ] && [ ! -e "$tmp/started" ]
check "await=maybe is refused before anything starts" $? "$tmp/log"
finish
