# SPDX-License-Identifier: MIT
# sample_refused.sh - samples where the system refuses what they need: the limit of pending signals is used up, or a
# sandbox refuses timers, perf events or signals. Threads are sampled in another way, or the report says in its first
# lines that they are not; the program runs, and its own handler gets its own signals and no others.
. "$(dirname "$0")/lib.sh"
need_real 1
[ -e "$BUILD/managed/interrupts/interrupts.dll" ] || skip_all "$0" "the app interrupts is not built"
[ "$(uname -m)" = x86_64 ] || skip_all "$0" "refuse.py knows the system calls of x86-64 only"

calls=100 # of 100 signals to itself
run() { # TOOL BEFORE... : records six threads that compute; BEFORE: a command that starts the program
    local tool=$1
    shift
    rm -rf "$tmp/s"
    timeout -k 5 120 "$sxsprof" run --quiet --tool "$tool" -o "$tmp/s" -- "$@" "$runsxs" --timeout 100 "$v" interrupts \
        "handler=23 work=6:1500 send=100" >"$tmp/log" 2>&1 && grep -Eq "the handler was called ($calls) times" "$tmp/log"
    check "$what: $tool: the program runs, and its handler of SIGURG is called for its own signals alone" $? "$tmp/log"
    "$sxsprof" report --format json "$tmp/s" >"$tmp/json" 2>"$tmp/said" && "$sxsprof" report --data samples "$tmp/s" >"$tmp/text" 2>>"$tmp/said"
    check "$what: $tool: a report is written" $? "$tmp/said"
}
# says EXPRESSION: of the JSON report r, its process p, and works: the samples of the six threads
says() { # CLAIM EXPRESSION
    python3 - "$tmp/json" "$2" >"$tmp/said" 2>&1 <<'PY'
import json, sys
r = json.load(open(sys.argv[1]))
p = r["profile"]["processes"][0]
works = [t for t in r["profile_threads"] if t["name"] == "Works"]
shares = [t["total_ns"] for t in works]
print(p, works)
assert eval("(" + sys.argv[2] + ")")
PY
    check "$1" $? "$tmp/said"
}
# On a busy machine the threads do not get the same time.
SHARES='len(shares) == 6 and min(shares) > 0 and max(shares) < sum(shares) / 2'
for v in $versions; do
    what="$v: no signal may be pending"
    for tool in sample sample:cpu=997 sample:wall=100 wait; do
        run $tool prlimit --sigpending=0 --
        says "$what: $tool: all six threads that compute have samples" "$SHARES"
    done
done
v=$(echo "$versions" | tail -n 1)
what="timers and perf events are refused"
run sample python3 tests/integration/refuse.py timer_create,perf_event_open
says "$what: all six threads that compute have samples" "$SHARES and p['clock'] == 'rounds' and p['threads_without_clock'] >= 6"
grep -q '^  [0-9]* threads had no clock, because the system refused it (Operation not permitted)' "$tmp/text"
check "$what: the text says so in its first lines" $? "$tmp/text"
"$sxsprof" report --format html "$tmp/s" >"$tmp/page" 2>/dev/null && grep -q '[1-9][0-9]* threads sampled in rounds, because the system refused a clock' "$tmp/page"
check "$what: the page has it, too" $?
what="timers, perf events and signals with a value are refused"
# Until the library has moved to another signal than the host's, the kernel may merge two of them that are pending.
calls='9[5-9]|100'
for tool in sample sample:wall=100; do
    run $tool python3 tests/integration/refuse.py timer_create,perf_event_open,rt_tgsigqueueinfo
    says "$what: $tool: all six threads that compute have samples" "$SHARES"
done
what="all signals to threads are refused"
for tool in sample sample:wall=100 wait; do
    rm -rf "$tmp/s"
    timeout -k 5 120 "$sxsprof" run --quiet --tool $tool -o "$tmp/s" -- python3 tests/integration/refuse.py \
        timer_create,perf_event_open,rt_tgsigqueueinfo,tgkill "$runsxs" --timeout 100 "$v" interrupts "burn=6:100" >"$tmp/log" 2>&1
    check "$what: $tool: the program runs" $? "$tmp/log"
    "$sxsprof" report --format json "$tmp/s" >"$tmp/json" 2>"$tmp/said" && "$sxsprof" report --data samples "$tmp/s" >"$tmp/text" 2>>"$tmp/said"
    says "$what: $tool: no thread has samples, and all their time is counted as not sampled" \
        "len(works) == 6 and not sum(shares) and min(t['unsampled_ns'] for t in works) > 0 and p['signals_refused'] > 0 and
         p['threads_with_unsampled_time'] >= 6 and p['unsampled_ns'] >= sum(t['unsampled_ns'] for t in works)"
    grep -q '^  the system refused [0-9]* signals to threads (Operation not permitted)' "$tmp/text" &&
        grep -Eq '^  [0-9]+ threads, [0-9.]+ s of their (life|CPU time) not sampled' "$tmp/text"
    check "$what: $tool: the text says so in its first lines" $? "$tmp/text"
done
# A few intervals without a sample may be chance in a thread that has a clock; not where signals are refused.
rm -rf "$tmp/s"
timeout -k 5 120 "$sxsprof" run --quiet --tool sample -o "$tmp/s" -- python3 tests/integration/refuse.py \
    timer_create,perf_event_open,rt_tgsigqueueinfo,tgkill "$runsxs" --timeout 100 "$v" interrupts "burn=6:25" >"$tmp/log" 2>&1 &&
    "$sxsprof" report --format json "$tmp/s" >"$tmp/json" 2>"$tmp/said"
says "$what: sample: time of threads that used a few intervals only is counted, too" \
    "len(works) == 6 and not sum(shares) and all(20e6 < t['unsampled_ns'] < 35e6 for t in works)"
finish
