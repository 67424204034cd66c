# SPDX-License-Identifier: MIT
# top.sh - sxsprof top on real runtimes: printed values of sessions that grow and that have ended, the live view
# in a terminal (tmux) of several sizes, its keys, the end of the process by kill -9, and the terminal after it.
. "$(dirname "$0")/lib.sh"
. tests/integration/terminal.inc
need_real 3

# Two runtimes and native code with known shares of the CPU time, for as long as the tests take.
timeout -k 5 300 "$sxsprof" run --quiet --tool sample --tool gc --tool exceptions --tool events -o "$tmp/s" -- \
    "$runsxs" --timeout 290 --bridge 8 shares "alpha=50 seconds=280" $net10 shares "alpha=20 seconds=280" \
    9 stress "nre=20 gcs=20 loops=10 pool=10 seconds=60" >"$tmp/log" 2>&1 &
run=$!
recorded() { ls "$tmp"/s/*/samples >/dev/null 2>&1; }
wait_until recorded
check "a run of three runtimes records" $? "$tmp/log"
folder=$(cd "$tmp/s" && echo [0-9]*)
pid=${folder%%-*}

# json FILE EXPRESSION: of d, the last line of JSON, or of l, all lines
json() { python3 -c 'import json,sys
l=[json.loads(x) for x in open(sys.argv[1])]; d=l[-1]
def f(name, key="self_ns"): return sum(x[key] for x in d["functions"] if name in x["name"])
print(eval(sys.argv[2]))' "$1" "$2"; }
seen() { timeout 60 "$sxsprof" top --format json -n 1 --top 500 "$pid" >"$tmp/json" 2>"$tmp/err" &&
    [ "$(json "$tmp/json" 'd["cpu_ns"] > 3e9')" = True ]; }
wait_until seen
check "top PID --format json finds the session of the process, and samples of it" $? "$tmp/err"
timeout 60 "$sxsprof" top --format json -n 3 --refresh 0.5 --top 500 "$tmp/s" >"$tmp/json" 2>"$tmp/err"
check "top SESSION --format json -n 3" $? "$tmp/err"
[ "$(json "$tmp/json" 'len(l), d["running"], l[0]["cpu_ns"] <= l[1]["cpu_ns"] <= l[2]["cpu_ns"], l[0]["cpu_ns"] < l[2]["cpu_ns"]')" = "(3, True, True, True)" ]
check "it prints three lines, and sums grow" $? "$tmp/err"
[ "$(json "$tmp/json" 'sorted(r["version"][:2] for r in d["runtimes"])')" = "['10', '8.', '9.']" ]
check "each has the three runtimes" $? "$tmp/err"
[ "$(json "$tmp/json" 'f("Program.Alpha") > 0 and f("Program.Alpha", "total_ns_window") > 0 and f("Program.Main(") < 0.1 * f("Program.Main(", "total_ns") and f("Program.Main(", "total_ns") >= f("Program.Alpha")')" = True ]
check "functions with their own time and that of those they call, in the window and since the beginning" $? "$tmp/err"
[ "$(json "$tmp/json" 'len({x["runtime"] for x in d["functions"] if "Shares.Program.Alpha" in x["name"]})')" = 2 ]
check "the same function of two runtimes has two rows" $? "$tmp/err"
[ "$(json "$tmp/json" 'd["exceptions_thrown"] > 0 and any("NullReference" in e["type"] for e in d["exceptions"]) and d["gcs"] > 0 and len(d["collections"]) > 0 and d["heap_bytes"] > 0 and len(d["compilations"]) > 0')" = True ]
check "exceptions by type, collections, the size of the heaps, compilations" $? "$tmp/err"
eight=$(json "$tmp/json" 'next(r["runtime"] for r in d["runtimes"] if r["version"][0] == "8")')
timeout 60 "$sxsprof" top --batch -n 1 --view functions --runtime "$eight" --filter PROGRAM.alpha --top 5 "$pid" >"$tmp/text" 2>&1
status=$?
[ $status -eq 0 ] && [ "$(grep -c 'Program\.' "$tmp/text")" = 1 ] && grep -q '8\.0\..*Program\.Alpha' "$tmp/text"
check "--batch prints text; --runtime and --filter choose rows" $? "$tmp/text"
timeout 60 "$sxsprof" top --batch -n 1 --view allocations "$pid" 2>&1 | grep -q 'not recorded; sxsprof alloc records it'
check "a view of what is not recorded says what records it" $? "$tmp/text"

# ---- the terminal ----
if ! terminal_is_here; then
    not_ok "the live view in a terminal: tmux and libncursesw6 are needed (setup/packages.txt)"
    kill $run
    finish
fi
view 80 24 -- "$pid"
wait_until shows 'Program\.Alpha'
check "80x24: the view shows functions" $? "$tmp/screen"
wait_until shows '^CPU \[.*%\].*Threads' && shows '^GC  \[' && shows '8\.0\.' && shows '10\.0\.' && shows 'F1Help.*F10Quit'
check "and a header with CPU, collections, runtimes, and the keys" $? "$tmp/screen"
[ "$(wc -L <"$tmp/screen")" -le 80 ]
check "no line is wider than the terminal" $? "$tmp/screen"
keys 2
wait_until shows 'CPU%.*THREAD'
check "2: threads" $? "$tmp/screen"
keys Tab Tab Tab
wait_until shows 'NullReferenceException'
check "Tab: the next views, with exceptions" $? "$tmp/screen"
keys 7
wait_until shows 'PAUSE.*REASON'
check "7: collections" $? "$tmp/screen"
keys 8
wait_until shows 'AT +TIME.*METHOD'
check "8: compilations" $? "$tmp/screen"
keys 9
wait_until shows 'RUNTIME.*CPU%.*STATE'
check "9: runtimes" $? "$tmp/screen"
keys 3
wait_until shows 'not recorded; sxsprof alloc records it'
check "3: allocations, which are not recorded" $? "$tmp/screen"
keys 1 /
wait_until shows 'Filter: _'
keys 'program.main(' # rows of native code are named main, too
wait_until shows 'Filter: program\.main\(_' && wait_until shows 'Program\.Main' && ! grep -q 'Program\.Alpha' "$tmp/screen"
check "/: a filter takes effect while it is typed" $? "$tmp/screen"
keys Enter
wait_until shows 'filter: program\.main'
keys Enter
wait_until shows '^[A-Za-z.]*Program\.Main\(System\.String\[\]\)'
check "Enter: the whole name" $? "$tmp/screen"
keys Enter Escape
no_filter() { screen && ! grep -q 'filter: program' "$tmp/screen"; }
wait_until no_filter
check "Esc: no filter" $? "$tmp/screen"
keys '>'
sorted_total() { "${tmux[@]}" capture-pane -p -e | grep -q '46m *TOTAL%'; }
wait_until sorted_total
check "> sorts by the next column, which is marked" $? "$tmp/screen"
keys Space
wait_until shows 'PAUSED'
check "Space: pause" $? "$tmp/screen"
screen && cp "$tmp/screen" "$tmp/paused"
"$sxsprof" top --batch -n 2 --refresh 1 "$pid" >/dev/null 2>&1
screen && cmp -s "$tmp/paused" "$tmp/screen"
check "a paused view does not change" $? "$tmp/screen"
keys Space F1
wait_until shows 'Any key goes back'
check "F1: help" $? "$tmp/screen"
keys x
"${tmux[@]}" resize-window -x 120 -y 40
wait_until shows 'TOTAL-ALL%.*FUNCTION' && [ "$(wc -l <"$tmp/screen")" -eq 40 ]
check "120x40: more columns" $? "$tmp/screen"
keys End Home Down PageDown PageUp Right Left Up
"${tmux[@]}" resize-window -x 20 -y 5
wait_until shows '^ *[0-9.-]+( +[0-9.-]+)* +[A-Za-z]' && [ "$(wc -L <"$tmp/screen")" -le 20 ]
check "20x5: still a table" $? "$tmp/screen"
for size in "1 1" "3 2" "7 3" "200 6"; do
    "${tmux[@]}" resize-window -x "${size% *}" -y "${size#* }"
    keys 2 5 7 9 F1 x Enter x 1
    sleep 0.2
done
"${tmux[@]}" resize-window -x 80 -y 24
wait_until shows 'Program\.Alpha'
check "and 1x1, 3x2, 7x3, 200x6 with every view: it goes on" $? "$tmp/screen"
keys q
wait_until ended
[ "$(cat "$tmp/status")" = 0 ] && is_as_before && [ ! -s "$tmp/err" ]
check "q: exit status 0, and the terminal is as it was" $? "$tmp/err"

for signal in TERM HUP; do
    view 80 24 -- "$pid"
    wait_until shows 'Program\.Alpha'
    signal_top $signal
    wait_until ended
    is_as_before && wait_until shows 'THE END'
    check "SIG$signal: the terminal is as it was" $? "$tmp/screen"
done
view 80 24 -- "$pid"
wait_until shows 'Program\.Alpha'
signal_reader SEGV
wait_until ended
is_as_before && grep -q 'ended by signal 11' "$tmp/err"
check "a crash of the process that reads and draws: the terminal is as it was, and a message says it" $? "$tmp/err"

view 80 24 TERM=dumb -- "$pid"
wait_until ended
[ "$(cat "$tmp/status")" = 2 ] && grep -q 'TERM=dumb.*--batch' "$tmp/err"
check "TERM=dumb: refused, --batch is named" $? "$tmp/err"
"$sxsprof" top "$pid" </dev/null >"$tmp/text" 2>"$tmp/err"
status=$?
[ $status -eq 2 ] && grep -q 'no terminal: --batch' "$tmp/err"
check "no terminal: refused, --batch is named" $? "$tmp/err"
view 80 24 LC_ALL=C -- "$pid"
wait_until shows 'Program\.Alpha'
check "a locale without UTF-8" $? "$tmp/screen"

# ---- the process is killed ----
view 80 24 -- "$pid"
wait_until shows 'Program\.Alpha'
check "the view is shown until the process is killed" $? "$tmp/err"
kill -9 "$pid"
shows_soon 'ENDED' && shows 'Program\.Alpha'
check "kill -9 of the process: the view says that it has ended, and stays" $? "$tmp/screen"
keys q
wait_until ended
[ "$(cat "$tmp/status")" = 0 ] && is_as_before
check "and ends with q" $? "$tmp/err"
wait $run 2>/dev/null

# ---- a session that has ended: top and report agree ----
timeout 60 "$sxsprof" top --format json --top 100000 "$tmp/s" >"$tmp/json" 2>"$tmp/err"
check "top of the session of a killed process ends by itself" $? "$tmp/err"
"$sxsprof" report --format json -o "$tmp/report" "$tmp/s" && "$sxsprof" report --format collapsed -o "$tmp/collapsed" "$tmp/s"
python3 - "$tmp/json" "$tmp/report" "$tmp/collapsed" <<'E' >"$tmp/diff" 2>&1
import json, sys, collections
top = json.loads(open(sys.argv[1]).read())
report = json.load(open(sys.argv[2]))
self_ns, total_ns, all_ns = collections.Counter(), collections.Counter(), 0
version = {r["runtime"]: r["version"] for r in top["runtimes"]}
for line in open(sys.argv[3], encoding="utf-8"):
    stack, n = line.rstrip("\n").rsplit(" ", 1)
    frames = stack.split(";")[1:]
    n = int(n); all_ns += n
    if frames:
        self_ns[frames[-1]] += n
    for f in set(frames):
        total_ns[f] += n
assert abs(all_ns - top["cpu_ns"]) < 1000, (all_ns, top["cpu_ns"])
managed, seen = 0, 0
for f in top["functions"]:
    if not f["runtime"]:
        continue
    name = "[%s] %s" % (version[f["runtime"]], f["name"].replace(";", ":"))
    managed += 1
    if total_ns.get(name) is None: # collapsed stacks have names without parameters
        name = name[:name.rfind("(")] if name.endswith(")") else name
    if name in total_ns and abs(total_ns[name] - f["total_ns"]) < 1000 and abs(self_ns[name] - f["self_ns"]) < 1000:
        seen += 1
print(managed, seen)
assert managed > 20 and seen >= managed * 0.8, (managed, seen) # overloads share a line of collapsed stacks
runtimes = {r["runtime"]: r for r in report["runtimes"]}
for r in top["runtimes"]:
    for key in ("gcs", "exceptions_thrown", "methods"):
        assert runtimes[r["runtime"]][key] == r[key], (key, runtimes[r["runtime"]], r)
thrown = collections.Counter()
for e in top["exceptions"]:
    thrown[e["type"]] += e["count"]
counted = collections.Counter()
for e in report["exceptions"]:
    counted[e["type"]] += e["count"]
assert thrown == counted, (thrown, counted)
E
status=$?
check "and has the sums that report has: stacks, runtimes, exceptions" $status "$tmp/diff"
finish
