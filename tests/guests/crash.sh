#!/bin/sh
# SPDX-License-Identifier: MIT
# crash.sh - checks that a crash names the guest that it happened in. crash.c crashes in a callback, in a function of
# the C library that a callback calls, or on a thread of its own; or in two callbacks at the same time.
. "$(dirname "$0")/../integration/lib.sh"
. tests/guests/common.inc
need_real 2

# crashes WHERE OPTION TEXT: the last line that the library writes
crashes() {
    local text
    # shellcheck disable=SC2086 # an option, or none
    { CRASH_WHERE=$1 PROF_OUT=$tmp/out SXSPROF_GUESTS="$(guest_list census crash)" \
        "$sxsprof" run --quiet $2 -o "$tmp/session" -- "$runsxs" 8 hello "" 9 hello "" >"$tmp/log" 2>&1; } 2>/dev/null
    is_signal=$(($? == 139))
    "$sxsprof" report "$tmp/session" 2>/dev/null | grep 'log: ' >"$tmp/noted"
    rm -rf "$tmp/session"
    text=$(grep '^sxsprof: signal' "$tmp/log" | sed 's/runtime [12]$/runtime N/')
    [ "$is_signal" = 1 ] && [ "$text" = "$3" ]
    check "$1${2:+, $2}: the process ends by the signal, and one line says: $3" $? "$tmp/log"
    [ "$(sed -n 's/.*log: \(signal .*\)/sxsprof: \1/p' "$tmp/noted" | sed 's/runtime [12]$/runtime N/')" = "$3" ]
    check "$1${2:+, $2}: the report's first lines say so" $? "$tmp/noted"
}
for option in "" --no-preload; do
    crashes callback "$option" "sxsprof: signal 11 in the code of guest libcrash.so, in a callback of runtime N"
    crashes together "$option" "sxsprof: signal 11 in the code of guest libcrash.so, in a callback of runtime N"
    crashes below "$option" "sxsprof: signal 11 below guest libcrash.so, in a callback of runtime N"
    crashes thread "$option" "sxsprof: signal 11 in the code of guest libcrash.so"
done

finish
