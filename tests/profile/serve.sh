# SPDX-License-Identifier: MIT
# serve.sh - opens the pages of sxsprof serve in headless Chromium: the list, a page that takes new data while
# the user works with it, and the page of a real program that is being profiled. SHOTS: a folder for pictures.
# run: without sanitizers
. "$(dirname "$0")/lib.sh"
if ! NODE_MODULES=$(sh setup/browser.sh --present 2>"$T/lacks"); then
    skip "sxsprof serve in a browser" "$(cat "$T/lacks")"
    exit $failed
fi
export NODE_MODULES
compile make_samples -O1
compile make_heap -O1
compile make_calls -O1
server= holder= app=
trap 'for p in $server $holder $app; do kill "$p" 2>/dev/null; done; wait; rm -rf "$T"' EXIT
mkdir "$T/folder"
"$T/make_samples" "$T/folder/known" known
"$T/make_samples" "$T/folder/costs" costs
"$T/make_heap" "$T/folder/heap" 1 known
"$T/make_calls" "$T/folder/calls" trace
# A process that has the census mapped is what makes a session a running one.
python3 -c 'import mmap, sys, time
f = open(sys.argv[1], "r+b")
m = mmap.mmap(f.fileno(), 0)
print("mapped", flush=True)
time.sleep(600)' "$T/folder/known/4242/census" >"$T/mapped" &
holder=$!
"$BUILD/sxsprof" serve "$T/folder" >"$T/url" 2>"$T/said" &
server=$!
for _ in $(seq 600); do [ -s "$T/url" ] && [ -s "$T/mapped" ] && break; sleep 0.05; done
url=$(cat "$T/url")
if [ -z "$url" ]; then
    not_ok "the server starts" "$(cat "$T/said")"
    exit 1
fi
export MAKE_SAMPLES=$T/make_samples HOLDER=$holder
timeout 300 node tests/profile/serve.mjs "$url" "$T/folder" "${SHOTS:-$T}" known || failed=1

real=
for v in "$BUILD"/runtimes/*/libcoreclr.so; do [ -e "$v" ] && real=1; done
if [ -z "$real" ] || [ -n "${SAN:-}" ] || [ ! -e "$BUILD/managed/stress/stress.dll" ]; then
    skip "the page of a real program" "no real runtimes here"
    exit $failed
fi
work="nre=100 div=100 gcs=20 loops=1 pool=100 seconds=300"
"$BUILD/sxsprof" run --quiet --tool sample --tool events -o "$T/folder/live" -- \
    "$BUILD/runsxs" --timeout 320 8 stress "$work" 9 stress "$work" >"$T/log" 2>&1 &
app=$!
for _ in $(seq 600); do ls "$T"/folder/live/*/samples >/dev/null 2>&1 && break; sleep 0.1; done
pid=$(basename "$(dirname "$T"/folder/live/*/samples)")
"$BUILD/sxsprof" serve --token 0123456789abcdef "$pid" >"$T/pid_url" 2>"$T/said" &
holder=$!
for _ in $(seq 600); do [ -s "$T/pid_url" ] && break; sleep 0.05; done
python3 - "$(cat "$T/pid_url")" "$pid" >"$T/said" 2>&1 <<'P'
import json, sys, urllib.request
address, _, token = sys.argv[1].partition("?")
ask = lambda path: json.load(urllib.request.urlopen(urllib.request.Request(address + path, headers={"Authorization": "Bearer 0123456789abcdef"})))
rows = ask("sessions")["sessions"]
assert [r["name"] for r in rows] == ["live"] and rows[0]["running"] and rows[0]["processes"][0]["pid"] == int(sys.argv[2]), rows
got = ask("session/live/data")
assert got["running"] and not got["list"], got["messages"]
P
is "the number of a process leads to its session" "" "$(cat "$T/said")"
kill "$holder"
timeout 300 node tests/profile/serve.mjs "$url" "$T/folder" "${SHOTS:-$T}" live "$app" || failed=1
exit $failed
