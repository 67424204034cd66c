#!/bin/bash
# SPDX-License-Identifier: MIT
# report_deep.sh - a stranger sends a session with a path of 100,000 calls, each with time of its own: 20 MB on the disk.
# No format may need memory or output for each frame of each of its stacks together.
# run: without sanitizers
. "$(dirname "$0")/lib.sh"
"${CC:-cc}" -std=gnu11 -O1 -D_GNU_SOURCE -I. tests/profile/make_hostile.c -o "$tmp/make_hostile" &&
    "$tmp/make_hostile" "$tmp/deep" deep || exit 1
cpu_s=10
[ -z "$SAN" ] || cpu_s=40
for format in collapsed text json pprof speedscope html firefox; do
    # CPU time, so that a busy machine makes no difference
    cost sh -c "ulimit -t $cpu_s"'; exec "$@"' sh "$sxsprof" report --data calls --format $format -o "$tmp/report" "$tmp/deep"
    at_most "report --format $format of a path of 100,000 calls" 110 262144
    [ "$status" = 0 ]
    check "it succeeds" $? "$tmp/err"
    [ $format != collapsed ] || lines=$(wc -l <"$tmp/report")
done
[ "$lines" = 99999 ]
check "collapsed has one line for each stack with time of its own (has $lines)" $?
cost sh -c "ulimit -t $cpu_s"'; exec "$@"' sh "$sxsprof" diff "$tmp/deep" "$tmp/deep"
at_most "diff of two paths of 100,000 calls" 110 262144
finish
