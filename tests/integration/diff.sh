# SPDX-License-Identifier: MIT
# diff.sh - compares sessions of real runtimes by sxsprof diff, in headless Chromium: two of one program, and two of a
# program that has changed. SHOTS: a folder for pictures.
. "$(dirname "$0")/lib.sh"
need_real 3
if ! NODE_MODULES=$(sh setup/browser.sh "$BUILD/node" 2>"$tmp/lacks"); then
    skip_all "$0" "$(cat "$tmp/lacks")"
fi
export NODE_MODULES

record() { # NAME VERSION APP WORDS
    timeout -k 5 100 "$sxsprof" run --quiet --tool sample -o "$tmp/$1" -- "$runsxs" --timeout 90 "$2" "$3" "$4" >"$tmp/log" 2>&1
    check "a session of $3 on $2 is recorded: $1" $? "$tmp/log"
}
record changed.before 9 shares "alpha=40 beta=30 native=10 seconds=3"
record changed.now 9 shares "alpha=60 beta=10 native=10 seconds=3"
"$sxsprof" diff -o "$tmp/changed.html" "$tmp/changed.before" "$tmp/changed.now" 2>"$tmp/log"
check "they are compared" $? "$tmp/log"
compare() { # VERSION APP WORDS: twice, and in a browser
    record "$2.$1.before" "$1" "$2" "$3"
    record "$2.$1.now" "$1" "$2" "$3"
    "$sxsprof" diff -o "$tmp/same.html" "$tmp/$2.$1.before" "$tmp/$2.$1.now" 2>"$tmp/log"
    timeout 100 node tests/profile/page_diff.mjs "${SHOTS:-}" "$tmp/same.html" "$tmp/changed.html" Alpha Beta >"$tmp/said" 2>&1
    check "$2 on $1: twice the same is not coloured, a real change is" $? "$tmp/said"
}
compare 8 tiers "seconds=2"
compare 9 shares "alpha=40 beta=30 native=10 seconds=3"
compare 10 tiers "seconds=2"
compare 10 stress "seconds=3"
finish
