#!/bin/bash
# SPDX-License-Identifier: MIT
# ring_opens.sh - a report of a ring of many segments opens each file of a segment at most twice: once for what all headers say,
# and once for its content, however many parts of the report read it; and not more files are open at a time than a segment has.
cd "$(dirname "$0")/../.." || exit 1
. tests/command/common.inc
SEGMENTS=40
for kind in samples calls events instrument; do
    $CC -std=gnu11 -D_GNU_SOURCE -g -I. tests/profile/make_$kind.c -o "$T/make_$kind" || exit 1
done
"$T/make_samples" "$T/s" known 4242 && "$T/make_calls" "$T/c" trace && "$T/make_events" "$T/e" && "$T/make_instrument" "$T/i" >/dev/null || exit 1
mkdir -p "$T/one/4242"
for kind in i e c s; do cp "$T/$kind"/4242/* "$T/one/4242/"; done
python3 -B tests/bench/ring.py "$T/one" "$T/ring" $SEGMENTS || exit 1
if ! strace -o /dev/null -f true 2>/dev/null; then
    skip "opens of a report" "strace does not work here"
    exit 0
fi

# Every open of a file of a session begins with one by O_PATH, which has no effect on a device; strace -y tells which file it found.
# Prints each file that was opened more than twice, and how often.
often() { grep -o 'O_PATH.*= [0-9]*<[^>]*>' "$1" | sed 's/.*<\(.*\)>/\1/' | grep "^$T/ring/2" | sort | uniq -c | awk '$1 > 2'; }
for format in text json html collapsed "json --fail-if self(App.*)>99%"; do
    # shellcheck disable=SC2086 # a format, maybe with a condition
    strace -f -y -o "$T/trace" -e trace=openat "$SXS" report --format $format -o "$T/written" "$T/ring" >"$T/out" 2>"$T/err"
    opened=$(grep -c "O_PATH.*/samples>" "$T/trace")
    [ -s "$T/written" ] && [ "$opened" -ge $SEGMENTS ] || not_ok "--format $format is written, $opened files of samples were opened" "$(head -5 "$T/err")"
    many=$(often "$T/trace")
    is "--format $format opens each file of a segment at most twice" "" "$(echo "$many" | head -5)"
done

# The names of native functions come from a process of their own, by messages: once for an address, not once in each segment.
messages() { strace -f -o "$T/trace" -e trace=sendmsg "$SXS" report -o "$T/written" "$1" >"$T/out" 2>"$T/err"; grep -c 'sendmsg(' "$T/trace"; }
one=$(messages "$T/one") all=$(messages "$T/ring")
[ "$one" -gt 2 ] && [ "$all" -lt $((one + 20)) ] && ok "a name is asked for once" ||
    not_ok "a name is asked for once" "$one messages for one segment, $all for $SEGMENTS"

# A ring may have thousands of segments. A report that kept a file of each segment open would need more descriptors than these.
(
    ulimit -n 48
    "$SXS" report -o "$T/few" "$T/ring"
) >"$T/out" 2>"$T/err"
"$SXS" report -o "$T/many" "$T/ring" >/dev/null 2>&1
cmp "$T/few" "$T/many" >>"$T/err" 2>&1 && ok "48 descriptors are enough for a ring of $SEGMENTS segments" || not_ok "48 descriptors are enough" "$(head -5 "$T/err")"
exit $failed
