# SPDX-License-Identifier: MIT
# diff.sh - compares sessions of real runtimes by sxsprof diff, in headless Chromium: two of one program, and two of a
# program that has changed. SHOTS: a folder for pictures.
. "$(dirname "$0")/lib.sh"
need_real 3
if ! NODE_MODULES=$(sh setup/browser.sh --present 2>"$tmp/lacks"); then
    skip_all "$0" "$(cat "$tmp/lacks")"
fi
export NODE_MODULES

record() { # NAME VERSION APP WORDS
    rm -rf "${tmp:?}/$1"
    timeout -k 5 100 "$sxsprof" run --quiet --tool sample -o "$tmp/$1" -- "$runsxs" --timeout 90 "$2" "$3" "$4" >"$tmp/log" 2>&1
}
recorded() { # the same, with a claim
    record "$@"
    check "a session of $3 on $2 is recorded: $1" $? "$tmp/log"
}
recorded changed.before 9 shares "alpha=40 beta=30 native=10 seconds=3"
recorded changed.now 9 shares "alpha=60 beta=10 native=10 seconds=3"
"$sxsprof" diff -o "$tmp/changed.html" "$tmp/changed.before" "$tmp/changed.now" 2>"$tmp/log"
check "they are compared" $? "$tmp/log"
# By chance 1 % of the pages of an unchanged program may have a coloured box, as their legend says. So if a page
# has one, two new sessions are recorded and compared; at most twice.
compare() { # VERSION APP WORDS: twice, and in a browser
    local status=1 made
    for _ in 1 2 3; do
        record "$2.$1.before" "$1" "$2" "$3" && record "$2.$1.now" "$1" "$2" "$3"
        made=$?
        [ $made -eq 0 ] || break
        "$sxsprof" diff -o "$tmp/same.html" "$tmp/$2.$1.before" "$tmp/$2.$1.now" 2>"$tmp/said" &&
            timeout 100 node tests/profile/page_diff.mjs "${SHOTS:-}" "$tmp/same.html" "$tmp/changed.html" Alpha Beta >"$tmp/said" 2>&1
        status=$?
        [ $status -eq 0 ] && break
        sed 's/^/# /' "$tmp/said"
    done
    check "$2 on $1: two sessions are recorded" $made "$tmp/log"
    check "$2 on $1: twice the same is not coloured, a real change is" $status "$tmp/said"
}
compare 8 tiers "seconds=2"
compare 9 shares "alpha=40 beta=30 native=10 seconds=3"
compare 10 tiers "seconds=2"
# Without threads that only loop: what share of the time these have is up to the system.
compare 10 stress "seconds=5 loops=0"
finish
