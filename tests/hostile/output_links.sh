#!/bin/bash
# SPDX-License-Identifier: MIT
# output_links.sh - a stranger plants links in a folder in which everybody can make files, where root's command writes
# a report: beside it, under the name that an incomplete report had, and under its own name.
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
finish
