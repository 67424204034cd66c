# SPDX-License-Identifier: MIT
# access.sh - checks in headless Chromium that pages can be read and used by everybody: rules of axe-core, the contrast
# of text that is drawn on canvases, and every action by keyboard. SHOTS: a folder for pictures.
# run: without sanitizers
. "$(dirname "$0")/lib.sh"
if ! NODE_MODULES=$(sh setup/browser.sh --present 2>"$T/lacks"); then
    skip "pages for everybody" "$(cat "$T/lacks")"
    exit $failed
fi
export NODE_MODULES
for program in make_samples make_calls make_events make_heap; do compile $program -O1; done
server= holder=
trap 'kill $server $holder 2>/dev/null; wait; rm -rf "$T"' EXIT
mkdir "$T/pages" "$T/folder"
"$T/make_samples" "$T/folder/known" known && "$T/make_samples" "$T/folder/costs" costs
"$T/make_calls" "$T/folder/calls" trace && "$T/make_calls" "$T/values" values
"$T/make_events" "$T/values" 0 && "$T/make_events" "$T/gcs" 0 gcs
"$T/make_heap" "$T/heap" 1 known && cp -r "$T/heap" "$T/folder/heap"
"$T/make_samples" "$T/changed" known 4242 150
page() { "$REPORT" html "$1" "$T/pages/$2.html" 2>"$T/err" || not_ok "$2 as a page" "$(cat "$T/err")"; }
page "$T/folder/known" profile
page "$T/folder/calls" calls
page "$T/values" timeline
page "$T/gcs" collections
page "$T/folder/costs" costs
"$REPORT" diff "$T/folder/known" "$T/pages/difference.html" "$T/changed" 2>/dev/null || not_ok "a difference as a page"
"$BUILD/sxsprof" heap --format html -o "$T/pages/heap.html" "$T/heap" || not_ok "a heap as a page"
"$T/make_heap" "$T/heap" 2 grown
"$BUILD/sxsprof" heap --diff 1 --format html -o "$T/pages/heap-difference.html" "$T/heap" || not_ok "two heaps as a page"
# A process that has the census mapped is what makes a session a running one.
python3 -c 'import mmap, sys, time
f = open(sys.argv[1], "r+b")
m = mmap.mmap(f.fileno(), 0)
time.sleep(600)' "$T/folder/known/4242/census" &
holder=$!
"$BUILD/sxsprof" serve "$T/folder" >"$T/url" 2>"$T/said" &
server=$!
for _ in $(seq 600); do [ -s "$T/url" ] && break; sleep 0.05; done
url=$(cat "$T/url")
[ -n "$url" ] || not_ok "the server starts" "$(cat "$T/said")"
timeout 300 node tests/profile/access.mjs "$T/pages" "$url" "${SHOTS:-}" || failed=1
timeout 300 node tests/profile/keyboard.mjs "$T/pages" "$url" || failed=1
exit $failed
