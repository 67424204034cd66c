# SPDX-License-Identifier: MIT
# heap_signal.sh - plays a process that root's `heap PID` signals to ask for a snapshot: it does nothing, or blocks the
# signal, or becomes a program of another user just when the signal is sent, so that root ends what the process's user
# could not. The command ends in time, and signals nobody whom that user could not have signalled.
# run: without sanitizers
. "$(dirname "$0")/lib.sh"
needs_root heap_signal
pids=
trap '{ kill -9 $pids; wait; rm -rf "$tmp"; } 2>/dev/null' EXIT
${CC:-cc} -O1 -o "$tmp/plain" tests/hostile/heap_signal.c && cp "$tmp/plain" "$tmp/setuid" && chmod 4755 "$tmp/setuid" || exit 1
findmnt -no OPTIONS -T "$tmp" | grep -q nosuid && skip_all heap_signal "no set-user-ID program runs from $tmp"
lair=$(lair $attacker lair)
mkdir -m 777 "$tmp/ready" "$lair/77"
chmod 755 "$lair/77"
cp "$BUILD/libsxsprof.so" "$lair/libsxsprof.so"
head -c 8192 /dev/zero >"$lair/77/census"
chown -R $attacker:$attacker "$lair"
number=$(($(kill -l RTMAX) - 5))
process() { # MODE: sets $pid
    setpriv --reuid $attacker --regid $attacker --clear-groups "$tmp/plain" "$lair/libsxsprof.so" "$lair/77/census" $number "$tmp/ready/$1" "$1" "$tmp/setuid" 2>"$tmp/log" &
    pid=$!
    pids="$pids $pid"
    wait_until test -e "$tmp/ready/$1"
}
for mode in nothing block; do
    process $mode
    cost "$sxsprof" heap --timeout 2 $pid
    [ "$status" -eq 1 ] && grep -q 'no heap snapshot in 2 s' "$tmp/err" && kill -0 $pid
    check "a process that answers the signal by '$mode': status 1 and the reason (status $status)" $? "$tmp/err"
    at_most "it ends in time" 8 200000
done
if strace -o /dev/null -f -e inject=pidfd_send_signal:delay_enter=1 true 2>/dev/null; then
    process exec
    cost strace --seccomp-bpf -o "$tmp/calls" -f -e signal=none -e trace=pidfd_send_signal -e inject=pidfd_send_signal:delay_enter=4000000 \
        "$sxsprof" heap --timeout 1 $pid &
    waiter=$!
    # The tracer holds whoever sends the signal before the system call; 424 is its number on every architecture.
    sends() { ! kill -0 $waiter 2>/dev/null || grep -qs '^424 ' /proc/[0-9]*/syscall; }
    wait_until sends
    touch "$tmp/ready/exec.go"
    wait_until test -e "$tmp/ready/exec.held"
    wait $waiter
    cat "$tmp/err" "$tmp/calls" >"$tmp/both" 2>/dev/null
    [ "$(awk '/^Uid:/ { print $2 $3 $4 $5 }' /proc/$pid/status)" = 0000 ] && grep -q "SIGRT\|$number" "$tmp/calls"
    check "a program of root that the process becomes when the signal is sent is not ended by it" $? "$tmp/both"
else
    skip "a process that becomes another program" "strace cannot delay system calls here"
fi
finish
