# SPDX-License-Identifier: MIT
# sample.sh - samples real runtimes, and compares shares of functions and call chains with known ones.
# Also: short threads, collections, faults at a high rate, exec, waiting threads, kill -9, and all report
# formats.
. "$(dirname "$0")/lib.sh"
need_real 3

# Chosen functions of two runtimes and native code use 40, 30, 20 and 10 % of 12 s of CPU time. Each share must
# be right within 6 points: more than five standard deviations, on a busy machine, too, which takes half of the
# 2,400 samples (SECONDS_OF_CPU=40 TOLERANCE=2 for a stricter check).
timeout -k 5 120 "$sxsprof" run --quiet --tool sample:cpu=199 -o "$tmp/shares" -- "$runsxs" --timeout 100 \
    --bridge 8 shares "alpha=40 beta=30 seconds=${SECONDS_OF_CPU:-12}" $net10 shares "alpha=20 native=10 seconds=${SECONDS_OF_CPU:-12}" >"$tmp/log" 2>&1
check "a sampled run of two runtimes succeeds" $? "$tmp/log"
"$sxsprof" report --format collapsed "$tmp/shares" >"$tmp/collapsed" 2>>"$tmp/log"
check "report --format collapsed prints its stacks" $? "$tmp/log"
"$sxsprof" report "$tmp/shares" >"$tmp/text" 2>>"$tmp/log"
# Shares are compared by time, because on a busy machine a sample stands for several periods. Call chains are
# taken from the lines of the collapsed stacks, whose weights are nanoseconds.
python3 - "$tmp/text" "$tmp/collapsed" "${TOLERANCE:-6}" <<'E2' >"$tmp/shares.out" 2>&1
import re, sys
functions = [(float(m[1]), m[2]) for m in re.finditer(r"^ +[\d.]+ % +([\d.]+) %  (.*)$", open(sys.argv[1], encoding="utf-8").read(), re.M)]
lines = [l.rstrip("\n").rsplit(" ", 1) for l in open(sys.argv[2], encoding="utf-8")]
bad = 0
for name, pattern, truth in (("Alpha in 8", r"\[8.*Program\.Alpha", 40), ("Beta in 8", r"\[8.*Program\.Beta", 30),
                             ("Alpha in 10", r"\[10.*Program\.Alpha", 20), ("native", r"sxsbridge_burn", 10)):
    # A function is in several tables of the report.
    got = max((share for share, function in functions if re.search(pattern, function)), default=0)
    good = abs(got - truth) <= float(sys.argv[3])
    bad |= not good
    print("%s: %.1f %%, truth %d %%%s" % (name, got, truth, "" if good else " <-- off"))
def count(pattern):
    return sum(int(n) for s, n in lines if re.search(pattern, s))
all8 = count(r"\[8[^;]*Program\.(Alpha|Beta)")
whole = count(r"runsxs!run_thread;.*\[8[^;]*Program\.Main;\[8[^;]*Program\.(Alpha|Beta)")
print("chains from the host's thread to the function: %.1f of %.1f s" % (whole / 1e9, all8 / 1e9))
sys.exit(bad or all8 < 5e8 or whole < 0.95 * all8)
E2
status=$?
check "each function has its known share of the time, and its call chain is complete: $(paste -sd';' "$tmp/shares.out")" $status "$tmp/shares.out"

# 1,000 threads a second, each of which lives for 1 ms, beside one thread that runs all the time. Looking for
# new threads from time to time would not find the short threads. With a perf clock, the share of the short
# threads is right except for the time that a thread loses when another thread takes its processor (8 points
# with 15 threads for each processor). With a timer on the scheduler's tick, the share is right only if the
# machine is not busy.
timeout -k 5 120 "$sxsprof" run --quiet --tool sample:cpu=997 -o "$tmp/churn" -- "$runsxs" --timeout 100 \
    --bridge 9 shares "alpha=100 churn=1000 seconds=2" >"$tmp/log" 2>&1
check "a run with 1,000 short threads a second succeeds" $? "$tmp/log"
"$sxsprof" report --format collapsed "$tmp/churn" >"$tmp/collapsed" 2>>"$tmp/log"
"$sxsprof" report "$tmp/churn" 2>/dev/null >"$tmp/text"
truth=$(sed -n 's/.*short threads: \([0-9.]*\) %.*/\1/p' "$tmp/log")
within=$(grep -q 'clock perf' "$tmp/text" && echo 15 || echo 25)
got=$(awk '{ all += $NF } /sxsbridge_short_life/ { n += $NF } END { printf "%.1f", all ? 100 * n / all : 0 }' "$tmp/collapsed")
awk -v a="$got" -v b="$truth" -v w="$within" 'BEGIN { d = a - b; exit !(b > 0 && d < w && d > -w) }'
check "short threads have $got % of the sampled time, in truth $truth %; the tolerance is $within points" $? "$tmp/text"
awk '/sxsbridge_short_life/ { all += $NF } /^[^;]*;\[native\] libc[^;]*clone[^;]*;\[native\] libc[^;]*start_thread;\[native\] libsxsbridge.so!sxsbridge_short_life/ { n += $NF }
    END { printf "%.2f of %.2f s", n / 1e9, all / 1e9; exit !(all > 0 && n > all * 0.95) }' "$tmp/collapsed" >"$tmp/frames"
status=$?
check "the oldest frames of short threads are those of the C library and of the thread's function: $(cat "$tmp/frames")" $status "$tmp/collapsed"

# Collections on the allocating thread: the report must have pauses as long as the runtime reports, and
# samples within the pauses (about 1.2 s of 2 s of CPU time; on a busy machine, pauses last longer than the
# CPU time used in them).
for v in 8 9 10; do
    timeout -k 5 120 "$sxsprof" run --quiet --tool sample -o "$tmp/gc$v" -- "$runsxs" --timeout 100 \
        $v shares "alpha=0 seconds=0 litter=2" >"$tmp/log" 2>&1
    "$sxsprof" report "$tmp/gc$v" 2>/dev/null >"$tmp/text"
    "$sxsprof" report --format collapsed "$tmp/gc$v" 2>/dev/null >"$tmp/collapsed"
    truth=$(sed -n 's/.*collections: \([0-9.]*\) s.*/\1/p' "$tmp/log")
    said=$(sed -n 's/^ *[0-9]* *\([0-9.]*\) s .* runtime 1, .*/\1/p' "$tmp/text")
    gc=$(awk '/Program.Litter/ && /!garbage collection/ { n += $NF } END { printf "%.2f", n / 1e9 }' "$tmp/collapsed")
    awk -v t="$truth" -v s="$said" -v g="$gc" 'BEGIN { exit !(t > 0.1 && s > 0.8 * t && s < 1.3 * t && g > 0.4 && g < 2 && g < 1.2 * t) }'
    check "$v: the report has pauses of $said s, the runtime reports $truth s; $gc s of CPU time in collections" $? "$tmp/text"
done

# Four runtimes with faults and collections at 997 Hz: the sample signal must not disturb handlers that run on
# the alternate signal stack.
work="nre=100 div=100 gcs=20 loops=1 pool=100 seconds=1"
for how in "" --no-preload; do
    good=0
    for i in 1 2 3 4 5; do
        # shellcheck disable=SC2086
        timeout -k 5 60 "$sxsprof" run --quiet $how --tool sample:cpu=997 -o "$tmp/f$i$how" -- "$runsxs" --timeout 50 \
            8 stress "$work" 9 stress "$work" $net10 stress "$work" 8 stress "$work" >"$tmp/log" 2>&1 && good=$((good + 1))
    done
    [ $good -eq 5 ]
    check "four runtimes with faults and collections, sampled at 997 Hz, ${how:-preloaded}: $good of 5 runs succeed" $? "$tmp/log"
done

# A sampled process that calls exec: no sample signal may kill the new program.
good=0
for i in 1 2 3 4 5 6 7 8; do
    timeout -k 5 60 "$sxsprof" run --quiet --tool sample:cpu=997 -o "$tmp/x$i" -- "$runsxs" --timeout 50 \
        9 crash exec >"$tmp/log" 2>&1 && good=$((good + 1))
done
[ $good -eq 8 ]
check "exec while other threads are sampled at 997 Hz: $good of 8 processes became the new program" $? "$tmp/log"

# Wall time: waiting threads are sampled and not disturbed.
timeout -k 5 60 "$sxsprof" run --quiet --tool sample:wall=99 -o "$tmp/wall" -- "$runsxs" --timeout 50 \
    9 shares "alpha=100 seconds=1" >"$tmp/log" 2>&1
check "a run sampled by wall time succeeds" $? "$tmp/log"
"$sxsprof" report "$tmp/wall" 2>/dev/null >"$tmp/text"
grep -qE '[1-9][0-9]+\.[0-9] %  ' "$tmp/text" && grep -q 'wall' "$tmp/text"
check "the report of the run by wall time has waiting threads" $? "$tmp/text"

# Samples that were committed to the session survive kill -9.
"$sxsprof" run --quiet --tool sample -o "$tmp/killed" -- "$runsxs" --timeout 300 8 shares 'alpha=100 seconds=200' >"$tmp/log" 2>&1 &
run=$!
many() {
    [ "$("$sxsprof" report --format collapsed "$tmp/killed" 2>/dev/null | awk '/Program.Alpha/ { n += $NF } END { printf "%.0f", n / 1e6 }')" -gt 550 ]
}
wait_until many
kill -KILL "$(basename "$tmp"/killed/[0-9]*)"
wait $run 2>/dev/null
"$sxsprof" report --format collapsed "$tmp/killed" 2>/dev/null >"$tmp/collapsed"
[ "$(awk '/Program.Alpha/ { n += $NF } END { printf "%.0f", n / 1e6 }' "$tmp/collapsed")" -gt 500 ]
check "after kill -9, the report has the samples with function names" $? "$tmp/collapsed"

# Every report format has contents, and a wrong rate is refused.
for f in text html collapsed speedscope pprof chrome firefox; do
    "$sxsprof" report --format $f -o "$tmp/out.$f" "$tmp/shares" >/dev/null 2>&1 && [ -s "$tmp/out.$f" ]
    check "report --format $f writes a file that is not empty" $?
done
"$sxsprof" diff -o "$tmp/diff.html" "$tmp/shares" "$tmp/wall" 2>/dev/null && [ -s "$tmp/diff.html" ]
check "sxsprof diff of two sessions writes a page that is not empty" $?
"$sxsprof" run --tool sample:cpu=0 -- true >"$tmp/log" 2>&1
[ $? -eq 2 ]; check "a rate of 0 is refused before anything starts" $? "$tmp/log"
finish
