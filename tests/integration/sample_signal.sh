# SPDX-License-Identifier: MIT
# sample_signal.sh - the signal that samples come with and the program's own: a managed handler, which the program
# sets by the C library's own sigaction through a P/Invoke, is called for the program's signals alone; and a program
# that becomes another one by exec while it is sampled does not end by a signal.
. "$(dirname "$0")/lib.sh"
need_real 1
[ -e "$BUILD/managed/interrupts/interrupts.dll" ] || skip_all "$0" "the app interrupts is not built"

for v in $versions; do
    for how in "sample" "sample --no-preload" "sample:cpu=997" "sample:cpu=997 --no-preload" "sample:wall=997"; do
        for signal in 23 28; do # SIGURG, SIGWINCH
            # shellcheck disable=SC2086 # a tool and an option
            timeout -k 5 120 "$sxsprof" run --quiet -o "$tmp/s" --tool $how -- "$runsxs" --timeout 100 "$v" interrupts \
                "handler=$signal work=4:500 send=200" >"$tmp/log" 2>&1 && grep -q 'was called 200 times' "$tmp/log"
            check "$v: $how: a managed handler of signal $signal is called for each of the program's own, and for no sample" $? "$tmp/log"
            rm -rf "$tmp/s"
        done
    done
    for tool in sample:cpu=200 sample:cpu=997 sample:wall=997; do
        status=0
        for _ in 1 2 3; do
            timeout -k 5 120 "$sxsprof" run --quiet --tool $tool -o "$tmp/s" -- "$runsxs" --timeout 100 "$v" interrupts \
                exec=/bin/true >"$tmp/log" 2>&1 || status=$?
            rm -rf "$tmp/s"
        done
        check "$v: $tool: a program that is sampled becomes another one by exec" $status "$tmp/log"
    done
done
finish
