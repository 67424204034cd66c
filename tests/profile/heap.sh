# SPDX-License-Identifier: MIT
# heap.sh - opens the pages and files of sxsprof heap in headless Chromium. SHOTS: a folder for pictures.
# run: without sanitizers
. "$(dirname "$0")/lib.sh"
compile make_heap -O1
if ! NODE_MODULES=$(sh setup/browser.sh --present 2>"$T/lacks"); then
    skip "sxsprof heap in a browser" "$(cat "$T/lacks")"
    exit $failed
fi
export NODE_MODULES
mkdir "$T/files"
for graph in known web:20000 joined:20000 tree:5000; do
    name=${graph%%:*}
    "$T/make_heap" "$T/$name" 1 "$name" "${graph##*:}"
    for format in heapsnapshot json; do
        "$BUILD/sxsprof" heap --format $format -o "$T/files/$name.$format" "$T/$name" || not_ok "$name as $format"
    done
done
"$BUILD/sxsprof" heap --format html -o "$T/files/known.html" "$T/known" || not_ok "known as html"
"$T/make_heap" "$T/known" 2 grown
"$BUILD/sxsprof" heap --diff 1 --format html -o "$T/files/diff.html" "$T/known" || not_ok "a difference as html"
timeout 300 node tests/profile/heap.mjs "$T/files" "${SHOTS:-}" || failed=1
exit $failed
