#!/bin/bash
# SPDX-License-Identifier: MIT
# mask_ignored.sh - plays a process whose library does not know --mask: it begins the session and says nothing of a mask.
# The command ends the session and says why.
. "$(dirname "$0")/lib.sh"
peer=(python3 tests/hostile/control_peer.py)
# start_with MASK: the status of `start --mask text` with a process that answers so; the message is in $tmp/err
start_with() {
    rm -f "$tmp/taken" # of the one before
    "${peer[@]}" fake "$BUILD/libsxsprof.so" say "ok\nphase=on\nnumber=1\ntools=census\nout=$tmp/x\n$1\n" >"$tmp/taken" 2>&1 &
    local pid=$!
    for _ in {1..300}; do grep -qs taken "$tmp/taken" && break; sleep 0.1; done
    timeout 60 "$sxsprof" start --tool census --mask text -o "$tmp/session$RANDOM" $pid >"$tmp/out" 2>"$tmp/err"
    status=$?
    kill $pid
    wait $pid 2>/dev/null
}
start_with ''
[ $status = 1 ] && grep -q 'mask text: its library does not mask' "$tmp/err"
check "a library that says no mask: status 1 and the reason (status $status)" $? "$tmp/err"
start_with 'mask=off\n'
[ $status = 1 ] && grep -q 'mask text: its library does not mask' "$tmp/err"
check "a library that masks nothing: status 1 and the reason (status $status)" $? "$tmp/err"
start_with 'mask=all\n'
[ $status = 0 ]
check "a library that masks more is fine (status $status)" $? "$tmp/err"

# attach joins the library of a process that has one, and asks it for the session. The connection of a session that would
# not be masked is closed, which ends it.
mkdir "$tmp/8.0.29"
echo 'int coreclr_initialize;' | ${CC:-cc} -shared -fPIC -x c - -o "$tmp/8.0.29/libcoreclr.so"
attach_with() { # MASK
    rm -f "$tmp/taken"
    "${peer[@]}" fake "$BUILD/libsxsprof.so" map "$tmp/8.0.29/libcoreclr.so" \
        "ok\nphase=none\nnumber=1\ntools=census\nout=$tmp/x\nruntime=1 8.0.29 picked live /x/libcoreclr.so\n$1\n" >"$tmp/taken" 2>&1 &
    local pid=$!
    for _ in {1..300}; do grep -qs taken "$tmp/taken" && break; sleep 0.1; done
    out=$tmp/session$RANDOM
    timeout 100 "$sxsprof" attach --tool census --mask text --duration 1s -o "$out" $pid >"$tmp/out" 2>"$tmp/err"
    status=$?
    kill $pid
    wait $pid 2>/dev/null
}
for mask in '' 'mask=off\n'; do
    attach_with "$mask"
    [ $status = 1 ] && grep -q 'mask text: its library does not mask these values.*ended at once' "$tmp/err" && [ ! -e "$out" ]
    check "attach with a library that says '${mask%??}' of its mask: status 1, the reason, and no folder (status $status)" $? "$tmp/err"
done
attach_with 'mask=all\n'
grep -q 'recording in process' "$tmp/err" && ! grep -q 'mask text' "$tmp/err"
check "attach with a library that masks more records (status $status)" $? "$tmp/err"
finish
