# SPDX-License-Identifier: MIT
# gc.sh - opens the page of a session with the tool "gc" in headless Chromium. SHOTS: a folder for pictures.
# run: without sanitizers
. "$(dirname "$0")/lib.sh"
compile make_events
if ! NODE_MODULES=$(sh setup/browser.sh --present 2>"$T/lacks"); then
    skip "collections in a browser" "$(cat "$T/lacks")"
    exit $failed
fi
export NODE_MODULES
"$T/make_events" "$T/s" 0 gcs
for format in html json; do
    "$BUILD/sxsprof" report --format $format -o "$T/page.$format" "$T/s" || not_ok "a session of collections as $format"
done
timeout 100 node tests/profile/gc.mjs "$T/page.html" "$T/page.json" "${SHOTS:-}" || failed=1
exit $failed
