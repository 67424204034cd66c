# SPDX-License-Identifier: MIT
# fake_signals.sh - checks that four simulated runtimes receive the right signals during faults, collections
# and thread starts.
# FAKECLR_STRICT makes a simulated runtime abort on errors that crash a real CLR, such as an activation signal
# on an unknown thread or an ID of another runtime.
. "$(dirname "$0")/lib.sh"
[ "$SAN" = thread ] && skip_all "four simulated runtimes" \
    "the preloaded mmap goes past the thread sanitizer's; test_router has the router under it"
export FAKECLR_STRICT=1
work='!threads 2; signal-faults 40; gc 4; thread-faults 20 3; gc 2; join; counts'
[ -n "$SAN" ] && work='!threads 1; signal-faults 12; gc 2; thread-faults 8 2; join; counts'
: "${N_RUNS:=20}"
[ -n "$SAN" ] && N_RUNS=8

times() { # CLAIM OPTIONS-OF-sxsprof-run OPTIONS-OF-runsxs
    good=0
    for _ in $(seq "$N_RUNS"); do
        # shellcheck disable=SC2086
        timeout -k 5 60 "$sxsprof" run --quiet $2 -- "$runsxs" $3 --timeout 50 fake:3.1 "$work" "" \
            fake:8.0 "$work" "" fake:9.0 "$work" "" fake:10.0 "$work" "" >"$tmp/log" 2>&1 &&
            [ "$(grep -c 'hangs 0 .*chained 0 after-previous 0 .*foreign 0 ids 0' "$tmp/log")" -eq 4 ] &&
            good=$((good + 1)) || cp "$tmp/log" "$tmp/bad"
    done
    if [ $good -eq "$N_RUNS" ]; then ok "$1: $good of $N_RUNS"
    else not_ok "$1: $good of $N_RUNS" "$tmp/bad"; fi
}

times "four runtimes that start at the same instant work, preloaded" "" ""
times "four runtimes that start one after the other work" "" /st
times "four runtimes that take turns work without preload" --no-preload --turns

# The control: without the router, collections of all runtimes except the last one hang, or faults reach the
# wrong runtime. A run may succeed by chance, but not five runs in a row.
lived=0
for _ in 1 2 3 4 5; do
    ( timeout -k 5 60 "$sxsprof" run --quiet --signals off -- "$runsxs" --timeout 8 fake:8.0 "$work" "" \
        fake:9.0 "$work" "" fake:10.0 "$work" "" ) >"$tmp/log" 2>&1 || break
    lived=$((lived + 1))
done
[ $lived -lt 5 ]
check "the control: with --signals off, at least one of five runs fails" $? "$tmp/log"
for kind in segv abort; do
    case $kind in segv) dies=139 ;; abort) dies=134 ;; esac
    ( timeout -k 5 60 "$sxsprof" run --quiet -- "$runsxs" --timeout 50 fake:8.0 '!sleep-ms 300' "" \
        fake:9.0 "!$kind" "" fake:10.0 '!sleep-ms 300' "" ) >"$tmp/log" 2>&1
    s=$?
    if [ $s -eq $dies ]; then ok "a native $kind in one of three runtimes ends the process with status $dies"
    else not_ok "a native $kind in one of three runtimes: status $s, expected $dies" "$tmp/log"; fi
done
finish
