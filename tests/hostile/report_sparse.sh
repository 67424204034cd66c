#!/bin/bash
# SPDX-License-Identifier: MIT
# report_sparse.sh - a stranger sends sessions whose files claim to have terabytes: they are holes, which take no disk
# space and read as zeros. Also a file with a little data in each of its chunks.
# run: without sanitizers
. "$(dirname "$0")/lib.sh"
CLAIMED=4T

make_session() { # NAME MAKER ARGUMENT...: make the session NAME of tests/profile/MAKER.c
    local name=$1 maker=$2
    shift 2
    [ -x "$tmp/$maker" ] ||
        "${CC:-cc}" -std=gnu11 -O1 -D_GNU_SOURCE -I. "tests/profile/$maker.c" -o "$tmp/$maker" -lm || exit 1
    "$tmp/$maker" "$tmp/$name" "$@" || exit 1
}
# lengthen NAME: give each file of a session a hole of terabytes at its end
lengthen() { truncate -s $CLAIMED "$tmp/$1"/*/[!.]*; }
# claim NAME FILE OFFSET...: set these numbers (32 bits) in the header of a file to the largest
claim() {
    python3 - "$tmp/$1"/*/"$2" "${@:3}" <<'PY'
import struct, sys
with open(sys.argv[1], "r+b") as f:
    for at in sys.argv[2:]:
        f.seek(int(at))
        f.write(struct.pack("<I", 0xffffffff))
PY
}
same() { # CLAIM: the last two reports say the same, apart from lines about damage
    cmp -s "$tmp/before" "$tmp/out"
    check "$1" $? "$tmp/err"
}

make_session samples make_samples known
make_session costs make_costs alnfw
make_session events make_events
make_session calls make_calls tree
make_session instrument make_instrument
cp "$tmp/samples/4242/census" "$tmp/instrument/4242/"
make_session heap make_heap 1 known
for kind in samples costs events calls instrument heap; do
    verb=report
    [ $kind = heap ] && verb=heap
    cp -r "$tmp/$kind" "$tmp/whole"
    cost "$sxsprof" $verb --format json "$tmp/$kind"
    sed "s,$tmp/[a-z]*,DIR,g" "$tmp/out" >"$tmp/before"
    lengthen $kind
    cost "$sxsprof" $verb --format json "$tmp/$kind"
    sed -i "s,$tmp/[a-z]*,DIR,g" "$tmp/out"
    at_most "$verb of a session of $kind with a hole of $CLAIMED ends" 10 262144
    same "$verb of $kind says what it says without the hole"
    # shellcheck disable=SC2016 # for the inner shell
    cost sh -c '"$1" $2 "$4"; [ $2 = heap ] || "$1" diff -o "$3/diff" "$3/whole" "$4" || [ $? = 1 ]
        "$1" pack -o "$3/packed" "$4"' sh "$sxsprof" $verb "$tmp" "$tmp/$kind"
    at_most "$verb as text, diff and pack of $kind end" 10 262144
    if [ $kind != heap ]; then
        grep -q "larger than its format allows\|number of chunks cannot be\|rest is left unread" "$tmp/out" "$tmp/err"
        check "$verb of $kind says that a file is damaged" $? "$tmp/err"
    fi
    rm -rf "$tmp/whole" "$tmp/packed" "$tmp/diff"
done

# Headers that agree with the size.
claim samples samples 56 60
claim calls calls 72 76 80
cost sh -c '"$1" report --format json "$2"; "$1" report --format json "$3"' sh "$sxsprof" "$tmp/samples" "$tmp/calls"
at_most "reports of files whose headers claim the largest numbers end" 10 262144
finish
