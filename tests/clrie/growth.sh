#!/bin/bash
# SPDX-License-Identifier: MIT
# growth.sh - checks that the engine keeps little of each method that a plug-in has changed: the memory of a process that
# compiles 12,000 methods, against that of one with 2,000, with a plug-in that inserts code and without.
. "$(dirname "$0")/../integration/lib.sh"
. tests/clrie/common.inc
need_real 3
[ -e "$BUILD/managed/bench/bench.dll" ] || skip_all "$0" "the managed apps are not built"
config cost
# resident: the memory that the app has printed, in KiB
resident() { sed -n 's/^bench: rss_kib \([0-9]*\).*/\1/p' "$tmp/std"; }
# bytes_of VERSION COST: set $bytes to the memory of each of 10,000 methods
bytes_of() {
    local few many
    export COST=$2
    run_on "$1" bench "bodies 2000 4" && few=$(resident) && run_on "$1" bench "bodies 12000 4" && many=$(resident) &&
        bytes=$(((many - few) * 1024 / 10000))
}
for version in 8.0 9.0 $net10; do
    bytes_of "$version" decline
    check "$version: 12,000 methods are compiled with a plug-in that declines them" $? "$tmp/err"
    declined=$bytes
    bytes_of "$version" insert
    check "$version: likewise with one that changes them" $? "$tmp/err"
    grep -q ' changed 1[2-9][0-9]* .* failed 0$' "$tmp/out"
    check "$version: it has changed them all" $? "$tmp/out"
    # The new body and its map stay, in the runtime and in the engine. A graph has some 3,000 bytes.
    echo "# bytes of a method: $declined declined, $bytes changed"
    [ $((bytes - declined)) -lt 1800 ]
    check "$version: a changed method keeps no graph" $?
done
finish
