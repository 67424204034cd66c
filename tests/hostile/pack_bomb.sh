#!/bin/bash
# SPDX-License-Identifier: MIT
# pack_bomb.sh - a stranger sends small packed sessions that unpack to gigabytes; and commands that read packed sessions
# are killed, and may leave nothing in TMPDIR for long.
. "$(dirname "$0")/lib.sh"
"${CC:-cc}" -std=gnu11 -O1 -D_GNU_SOURCE -I. tests/profile/make_samples.c -o "$tmp/make_samples" &&
    "$tmp/make_samples" "$tmp/s" known && "$sxsprof" pack -o "$tmp/pack" "$tmp/s" >/dev/null 2>&1
[ -s "$tmp/pack" ] || exit 1
mkdir "$tmp/unpacked"
export TMPDIR=$tmp/unpacked

for kind in zeros text holes window; do
    python3 tests/hostile/pack_bomb.py "$tmp/pack" "$tmp/$kind" $kind || exit 1
    cost "$sxsprof" report "$tmp/$kind"
    at_most "report of a pack of $(($(du -k "$tmp/$kind" | cut -f1))) KiB with $kind ends" 10 262144
    [ "$status" = 2 ] && grep -q "expected at most\|more data than expected\|larger than any\|not a packed session" "$tmp/err"
    check "it is refused, and said why" $? "$tmp/err"
    [ -z "$(ls -A "$TMPDIR")" ]
    check "nothing is left in TMPDIR" $?
    rm -f "$tmp/$kind"
done

# The report waits for somebody to read the pipe, with everything unpacked.
mkfifo "$tmp/pipe"
is_unlocked() { flock -n "$TMPDIR"/*/.lock true; }
is_unpacked() { compgen -G "$TMPDIR/*/names" >/dev/null; }
for signal in TERM INT KILL; do
    when="SIG$signal"
    # an interactive shell lets its children have the default action for SIGINT
    python3 -c 'import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])' "$sxsprof" report -o "$tmp/pipe" "$tmp/pack" >/dev/null 2>&1 &
    wait_until is_unpacked
    kill -$signal $!
    wait $! 2>/dev/null
    if [ $signal = KILL ]; then
        is_unpacked
        check "a killed command cannot remove what it has unpacked" $?
        wait_until is_unlocked # its child, which the kernel ends with it, has the lock as long as it lives
        "$sxsprof" report "$tmp/pack" >/dev/null 2>&1
        when="$when, and the next command,"
    fi
    find "$TMPDIR" -mindepth 1 >"$tmp/left"
    [ ! -s "$tmp/left" ]
    check "after $when nothing is left in TMPDIR" $? "$tmp/left"
done

# A folder of a command that still runs stays.
"$sxsprof" report -o "$tmp/pipe" "$tmp/pack" >/dev/null 2>&1 &
wait_until is_unpacked
"$sxsprof" report "$tmp/pack" >/dev/null 2>&1
is_unpacked
check "what a running command has unpacked stays" $?
cat "$tmp/pipe" >/dev/null
wait
finish
