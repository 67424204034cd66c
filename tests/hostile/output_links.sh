#!/bin/bash
# SPDX-License-Identifier: MIT
# output_links.sh - a stranger plants links in a folder in which everybody can make files, where root's command writes
# a report: beside it, under the name that an incomplete report had, and under its own name.
# run: without sanitizers
. "$(dirname "$0")/lib.sh"
needs_root output_links
for maker in make_samples make_heap; do
    "${CC:-cc}" -std=gnu11 -O1 -D_GNU_SOURCE -I. tests/profile/$maker.c -o "$tmp/$maker" -lm || exit 1
done
"$tmp/make_samples" "$tmp/s" known && "$tmp/make_heap" "$tmp/h" 1 known || exit 1
shared=$tmp/shared precious=$tmp/precious
mkdir -m 1777 "$shared"

plays() { # WHAT COMMAND...: run a command that writes $shared/out
    local what=$1
    shift
    rm -f "$shared"/*
    echo "root's" >"$precious"
    as $attacker ln -s "$precious" "$shared/out.part"
    as $attacker ln -s "$precious" "$shared/out"
    "$@" >"$tmp/log" 2>&1
    [ "$(cat "$precious")" = "root's" ]
    check "$what: a file of root stays as it is" $? "$tmp/log"
    [ -f "$shared/out" ] && [ ! -L "$shared/out" ] && [ -s "$shared/out" ] && [ "$(stat -c %u "$shared/out")" = 0 ]
    check "$what: the report is a file of root's own" $? "$tmp/log"
    [ "$(ls "$shared" | wc -l)" = 2 ]
    check "$what: nothing else is left" $? "$tmp/log"
}
plays "report" "$sxsprof" report -o "$shared/out" "$tmp/s"
plays "report of heaps only" "$sxsprof" report -o "$shared/out" "$tmp/h"
plays "diff" "$sxsprof" diff -o "$shared/out" "$tmp/s" "$tmp/s"
plays "pack" "$sxsprof" pack -o "$shared/out" "$tmp/s"
plays "heap" "$sxsprof" heap -o "$shared/out" "$tmp/h"

# A stranger's link to a device is replaced as well.
rm -f "$shared"/*
as $attacker ln -s /dev/null "$shared/out"
"$sxsprof" report -o "$shared/out" "$tmp/s" >"$tmp/log" 2>&1
[ -f "$shared/out" ] && [ ! -L "$shared/out" ]
check "a stranger's link to a device is not written through" $? "$tmp/log"
[ "$("$sxsprof" report -o /dev/stdout "$tmp/s" 2>/dev/null | wc -l)" -gt 3 ]
check "/dev/stdout is written to" $?
ln -s /proc/self/fd/1 "$tmp/stdout" # as /dev/stdout, which no test may put at risk
"$sxsprof" report -o "$tmp/stdout" "$tmp/s" >"$tmp/written" 2>/dev/null
[ "$(wc -l <"$tmp/written")" -gt 3 ] && [ -L "$tmp/stdout" ]
check "a link of one's own to standard output stays, and the file behind it is written to" $?
echo before >"$tmp/target"
ln -s target "$tmp/latest"
"$sxsprof" report -o "$tmp/latest" "$tmp/s" 2>/dev/null
[ -L "$tmp/latest" ] && [ "$(wc -l <"$tmp/target")" -gt 3 ]
check "a link of one's own to a file stays, and the file is written to" $?

# A stranger's link in the middle of the path, to a folder of root: in a folder where everybody can make files, in one
# of his own, and behind a link of root's own.
mkdir -m 700 "$tmp/roots" "$tmp/roots/below"
lair=$(lair $attacker lair)
as $attacker ln -s "$tmp/roots" "$shared/way"
as $attacker ln -s "$tmp/roots" "$lair/way"
ln -s "$shared/way/below/out" "$tmp/behind"
: >"$tmp/roots/below/out"
for path in "$shared/way/out" "$shared/way/below/out" "$lair/way/out" "$tmp/behind"; do
    for command in "report -o" "diff -o" "pack -o" "heap -o"; do
        sessions=$tmp/s
        [ "$command" != "heap -o" ] || sessions=$tmp/h
        [ "$command" != "diff -o" ] || sessions="$tmp/s $tmp/s"
        # shellcheck disable=SC2086
        "$sxsprof" $command "$path" $sessions >>"$tmp/said" 2>&1
    done
done
[ "$(ls -A "$tmp/roots")" = below ] && [ "$(ls -A "$tmp/roots/below")" = out ] && [ ! -s "$tmp/roots/below/out" ]
check "a stranger's link in the middle of the path is not followed" $? "$tmp/said"
grep -q 'way is a symbolic link that another user (uid 61001) can change' "$tmp/said"
check "and the message says which link" $? "$tmp/said"
ln -s "$tmp/roots" "$tmp/own"
"$sxsprof" report -o "$tmp/own/below/out" "$tmp/s" >"$tmp/log" 2>&1
[ -s "$tmp/roots/below/out" ]
check "a link of one's own in the middle of the path is followed" $? "$tmp/log"

# In a user namespace without the machine's root, /proc/self belongs to nobody.
chmod -R o+rX "$tmp/s"
# shellcheck disable=SC2016 # for the inner shell
as $attacker unshare -U -r sh -c '"$0" report -o /proc/self/fd/1 "$1" | cat' "$sxsprof" "$tmp/s" >"$tmp/written" 2>"$tmp/log"
[ "$(wc -l <"$tmp/written")" -gt 3 ]
check "standard output by its name in /proc is written to in a user namespace" $? "$tmp/log"

# A stranger's pipe, at which nobody reads.
as $attacker mkfifo "$lair/out"
timeout 20 "$sxsprof" report -o "$lair/out" "$tmp/s" >"$tmp/log" 2>&1
[ $? -ne 124 ] && grep -q 'not permitted' "$tmp/log"
check "a stranger's pipe is refused, and not waited for" $? "$tmp/log"

# A stranger exchanges his pipe and a link to root's file all the time.
echo "root's" >"$precious"
chmod 600 "$precious"
as $attacker ln -s "$precious" "$lair/link"
as $attacker python3 -c 'import ctypes, sys, time
libc, end = ctypes.CDLL(None), time.monotonic() + 60
while time.monotonic() < end:
    libc.renameat2(-100, sys.argv[1].encode(), -100, sys.argv[2].encode(), 2)' "$lair/out" "$lair/link" &
swapper=$!
for i in $(seq 40); do
    timeout 20 "$sxsprof" report -o "$lair/out" "$tmp/s" >"$tmp/log" 2>&1
    [ -p "$lair/out" ] || [ -L "$lair/out" ] || [ -p "$lair/link" ] || break # the report has taken the place of one
done
kill $swapper
wait $swapper 2>/dev/null
[ "$(cat "$precious")" = "root's" ]
check "a stranger who exchanges a pipe and a link does not lead a report to root's file" $? "$tmp/log"
finish
