# SPDX-License-Identifier: MIT
# top_attach.sh - sxsprof top of processes that record nothing: it attaches to them, and nothing of that is left when
# the view ends: by q, by SIGINT, by kill -9, or because the process ends.
. "$(dirname "$0")/lib.sh"
. tests/integration/terminal.inc
need_real 3
mkdir "$tmp/tmp" # temporary folders of top, and of the program
export TMPDIR=$tmp/tmp

timeout -k 5 300 "$runsxs" --timeout 290 10 stress "nre=20 gcs=20 loops=10 pool=10 until=$tmp/until" >"$tmp/log" 2>&1 &
run=$!
started() { pid=$(pgrep -P $run -x runsxs) && grep -q 'stress\.dll' "/proc/$pid/maps"; }
wait_until started
check "a program that is not profiled runs" $? "$tmp/log"
is_recorded() { grep -q '/census$' "/proc/$pid/maps"; }
is_left() { ! is_recorded && [ -z "$(find "$tmp/tmp" -mindepth 1 -name 'sxsprof-*' -print -quit)" ]; }
# left CLAIM: the process records nothing any more, and no temporary folder is left. Ends later than the view, if that was killed.
left() {
    wait_until is_left
    check "$1: the process records nothing, and no temporary folder is left" $? "$tmp/err"
}

# ---- printed ----
timeout 120 "$sxsprof" top --format json -n 3 --refresh 1.5 --top 100 "$pid" >"$tmp/json" 2>"$tmp/err" </dev/null
check "top --format json of a process that records nothing" $? "$tmp/err"
python3 - "$tmp/json" <<'E2' >"$tmp/diff" 2>&1
import json, sys
lines = [json.loads(x) for x in open(sys.argv[1])]
last = lines[-1]
assert len(lines) == 3 and all(x["running"] for x in lines), lines
assert [r["version"][:3] for r in last["runtimes"]] == ["10."], last["runtimes"]
assert last["cpu_ns"] > 0 and any("Stress." in f["name"] for f in last["functions"]), last["functions"]
assert last["gcs"] > 0 and last["heap_bytes"] > 0, last
assert any("NullReference" in e["type"] for e in last["exceptions"]), last["exceptions"]
E2
check "it shows functions, collections and exceptions: the tools sample, gc and exceptions" $? "$tmp/diff"
left "after the last line"

timeout 120 "$sxsprof" top --format json -n 1 --refresh 0.5 runsxs >"$tmp/json" 2>"$tmp/err" </dev/null
status=$?
# Another test may have a program of that name: then it is refused, and the message lists both.
[ $status -eq 0 ] || grep -q 'runsxs' "$tmp/err"
check "top NAME finds a process by its name (status $status)" $? "$tmp/err"
timeout 60 "$sxsprof" top --batch no-such-program >"$tmp/text" 2>"$tmp/err" </dev/null
[ $? -eq 2 ] && grep -q "no-such-program" "$tmp/err"
check "a name that no process has is refused" $? "$tmp/err"
left "after a name"

# ---- in a terminal ----
if ! terminal_is_here; then
    not_ok "the live view in a terminal: tmux and libncursesw6 are needed (setup/packages.txt)"
    kill $run
    finish
fi
# watch: show top of the process until it shows a function of the program
watch() {
    view 100 30 TMPDIR="$TMPDIR" -- "$pid"
    shows_soon 'Stress\.' && is_recorded
    check "$1: top attaches and shows functions" $? "$tmp/screen"
}
watch "q"
shows 'Tools sample' && shows ' gc' && shows ' exceptions'
check "the header names the tools" $? "$tmp/screen"
keys q
wait_until ended
[ "$(cat "$tmp/status")" = 0 ] && is_as_before && [ ! -s "$tmp/err" ]
check "q: exit status 0, no message, and the terminal is as it was" $? "$tmp/err"
left "q"

watch "Ctrl-C"
keys C-c
wait_until ended
[ "$(cat "$tmp/status")" = 0 ] && is_as_before
check "Ctrl-C: exit status 0, and the terminal is as it was" $? "$tmp/err"
left "Ctrl-C"

for signal in INT TERM HUP; do
    watch "SIG$signal"
    signal_top $signal
    wait_until ended
    [ "$(cat "$tmp/status")" = 0 ] && is_as_before
    check "SIG$signal: exit status 0, and the terminal is as it was" $? "$tmp/err"
    left "SIG$signal"
done

watch "kill -9 of top"
signal_top KILL
not_recorded() { ! is_recorded; }
wait_until not_recorded
check "kill -9 of top: the attach ends" $? "$tmp/err"
rm -rf "$tmp/tmp"/sxsprof-* # the folder of a killed top

# ---- what cannot be attached to ----
sleep 300 &
sleeper=$!
timeout 60 "$sxsprof" top --batch $sleeper >"$tmp/text" 2>"$tmp/err" </dev/null
status=$?
kill $sleeper
[ $status -eq 2 ] && grep -q 'runtime' "$tmp/err" && [ -z "$(find "$tmp/tmp" -name 'sxsprof-*' -print -quit)" ]
check "a process without runtimes: refused, and no folder is left" $? "$tmp/err"

# ---- the program goes on, and ends while it is watched ----
watch "the end of the process"
: >"$tmp/until"
wait $run
check "the program ends with status 0 after all that" $? "$tmp/log"
shows_soon 'ENDED' && shows 'Stress\.'
check "the view says that it has ended, and stays" $? "$tmp/screen"
keys q
wait_until ended
[ "$(cat "$tmp/status")" = 0 ] && is_as_before
check "and ends with q" $? "$tmp/err"
[ -z "$(find "$tmp/tmp" -name 'sxsprof-*' -print -quit)" ]
check "no temporary folder is left" $?
finish
