# SPDX-License-Identifier: MIT
# top_container.sh - sxsprof top and sxsprof serve, from the host, of a process in a container of its own mounts,
# process IDs and network, and of another user: with a session, and without one. Needs root.
. "$(dirname "$0")/lib.sh"
. tests/integration/terminal.inc
need_real 1
. tests/integration/container.inc
user=$((20000 + $$ % 40000)) # of this run alone: folders are found by it
command -v curl >/dev/null || skip_all "top_container" "curl is missing"
needs_container "top_container" $user
mkdir "$tmp/tmp" # temporary folders of top
export TMPDIR=$tmp/tmp
server=
trap 'end_view; [ -z "$server" ] || kill $server 2>/dev/null; kill ${attacher:-} 2>/dev/null; : >"$tmp/shared/until"; rm -rf "$tmp"' EXIT

# The container's /tmp is the host's: there are folders of other attaches, too.
left() { find "$tmp/tmp" "/proc/$pid/root/dev/shm" "/proc/$pid/root/tmp" -maxdepth 1 -mindepth 1 -regextype posix-egrep \
    \( -path "$tmp/tmp/*" -o -regex '.*/sxsprof-[0-9a-f]{16}' -user "$user" \) 2>/dev/null; }
is_recorded() { grep -q '/census$' "/proc/$pid/maps"; }
is_left() { ! is_recorded && [ -z "$(left)" ]; }
json() { python3 -c 'import json,sys
d=[json.loads(x) for x in open(sys.argv[1])][-1]
print(eval(sys.argv[2]))' "$1" "$2"; }
# top_shows CLAIM: top prints functions of the program
top_shows() {
    timeout 120 "$sxsprof" top --format json -n 3 --refresh 1.5 --top 100 "$pid" >"$tmp/json" 2>"$tmp/err" </dev/null &&
        [ "$(json "$tmp/json" 'd["running"], any("Stress." in f["name"] for f in d["functions"]), [r["version"] for r in d["runtimes"]]')" = \
            "(True, True, ['$version'])" ]
    check "$1" $? "$tmp/err"
}

container $user mode=1777
check "a program runs in a container" $? "$tmp/log"
top_shows "top of a process in a container that records nothing: it attaches, and shows functions"
wait_until is_left
check "after that the process records nothing, and no folder is left inside or outside" $? "$tmp/err"
timeout 60 "$sxsprof" serve "$pid" >"$tmp/text" 2>"$tmp/err"
status=$?
[ $status -eq 2 ] && grep -q "process $pid: it records no session; sxsprof sample -p $pid" "$tmp/err"
check "serve of a process that records nothing: refused, attach is named" $? "$tmp/err"

if terminal_is_here; then
    view 100 30 TMPDIR="$TMPDIR" -- "$pid"
    shows_soon 'Stress\.'
    check "in a terminal, too" $? "$tmp/err"
    keys C-c
    wait_until ended
    [ "$(cat "$tmp/status")" = 0 ] && is_as_before
    check "Ctrl-C: exit status 0, and the terminal is as it was" $? "$tmp/err"
    wait_until is_left
    check "and the process records nothing, and no folder is left" $? "$tmp/err"
fi

# ---- a session in the container ----
"$sxsprof" attach --tool sample --tool gc -o "$tmp/out" "$pid" >"$tmp/attach" 2>&1 &
attacher=$!
recording() { grep -q 'recording in process' "$tmp/attach"; }
wait_until recording
check "another command records the process" $? "$tmp/attach"
top_shows "top finds that session"
is_recorded
check "and leaves it alone" $?

"$sxsprof" serve "$pid" >"$tmp/served" 2>"$tmp/err" </dev/null &
server=$!
is_serving() { [ -s "$tmp/served" ] || ! kill -0 $server 2>/dev/null; }
wait_until is_serving
url=$(sed 's/?.*//' "$tmp/served") token=$(sed 's/.*token=//' "$tmp/served")
get() { curl -sf -m 60 -H "Authorization: Bearer $token" "$url$1"; }
get sessions >"$tmp/json" 2>>"$tmp/err"
[ "$(json "$tmp/json" 'len(d["sessions"]), d["sessions"][0]["running"], [v for p in d["sessions"][0]["processes"] for v in p["runtimes"]]')" = \
    "(1, True, ['$version'])" ]
check "serve of the process: one session, which is running" $? "$tmp/json"
get "session/$(json "$tmp/json" 'd["sessions"][0]["link"]')/report?format=text" >"$tmp/text" 2>>"$tmp/err"
[ "$(grep -c 'Stress\.' "$tmp/text")" -gt 0 ]
check "and its report has functions of the program" $? "$tmp/text"

# ---- the container ends ----
if terminal_is_here; then
    view 100 30 -- "$pid"
    shows_soon 'Stress\.'
    check "top in a terminal follows the session" $? "$tmp/err"
fi
finished
check "the program in the container ends with status 0" $status "$tmp/log"
if terminal_is_here; then
    shows_soon 'ENDED' && shows 'Stress\.'
    check "the view says that the process has ended, and stays" $? "$tmp/screen"
    keys q
    wait_until ended
    [ "$(cat "$tmp/status")" = 0 ] && is_as_before
    check "and ends with q" $? "$tmp/err"
fi
wait $attacher
check "the attach ends with the process" $? "$tmp/attach"
get sessions >"$tmp/json" 2>>"$tmp/err"
check "the server goes on" $? "$tmp/err"
kill -TERM $server
wait $server
check "and ends with SIGTERM and status 0" $? "$tmp/err"
server=
finish
