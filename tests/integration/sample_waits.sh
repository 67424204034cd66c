# SPDX-License-Identifier: MIT
# sample_waits.sh - system calls that wait, while their thread is sampled: none fails with EINTR or ends early. By
# default a signal interrupts no call for good, preloaded or not: it is begun again, or the thread gets no signal.
. "$(dirname "$0")/lib.sh"
need_real 1
[ -e "$BUILD/managed/interrupts/interrupts.dll" ] || skip_all "$0" "the app interrupts is not built"

# The programs wait most of the time: one of each version runs at once.
for how in "sample:wall=100" "sample:wall=100 --no-preload" "sample:wall=997" "wait" "wait --no-preload" "sample:cpu=997"; do
    runs=
    for v in $versions; do
        # shellcheck disable=SC2086 # a tool and an option
        timeout -k 5 120 "$sxsprof" run --quiet -o "$tmp/s-$v" --tool $how -- "$runsxs" --timeout 100 "$v" interrupts waits=12 \
            >"$tmp/log-$v" 2>&1 &
        runs="$runs $v=$!"
    done
    for run in $runs; do
        v=${run%=*}
        wait "${run#*=}"
        check "$v: $how: a recorded run succeeds" $? "$tmp/log-$v"
        [ "$(grep -c '^waits: [a-z_]* 12 interrupted 0 early 0 late 0$' "$tmp/log-$v")" = 7 ]
        check "$v: $how: poll, nanosleep, select, epoll_wait, sem_timedwait, recv and sigtimedwait wait as long as they should" $? \
            "$tmp/log-$v"
        rm -rf "$tmp/s-$v"
    done
done
# Under the walk from outside, the calls have their native function and their thread.
timeout -k 5 120 "$sxsprof" run --quiet -o "$tmp/s" --tool sample:wall=100 -- "$runsxs" --timeout 100 "$v" interrupts waits=12 >"$tmp/log" 2>&1
"$sxsprof" report --format collapsed "$tmp/s" >"$tmp/stacks" 2>"$tmp/log"
for call in poll nanosleep epoll_wait recv sigtimedwait select; do
    grep -q "PInvoke.*$call" "$tmp/stacks"
    check "$v: the report has the time in $call, below the P/Invoke that calls it" $? "$tmp/log"
done
finish
