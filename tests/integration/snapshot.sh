# SPDX-License-Identifier: MIT
# snapshot.sh - samples real runtimes with the walker "snapshot", which suspends runtimes to walk threads.
# Runs with faults and collections must succeed, the fast walk must have the same frames, call chains must be
# complete, waiting threads must be sampled, and a runtime may end before the others.
. "$(dirname "$0")/lib.sh"
need_real 3
run() { # OUT OPTIONS ARGUMENTS...: sample runsxs, with a time limit, into the session OUT
    out=$1 options=$2; shift 2
    timeout -k 5 70 "$sxsprof" run --quiet --tool "sample:$options,walker=snapshot" -o "$tmp/$out" -- \
        "$runsxs" --timeout 60 "$@" >"$tmp/log" 2>&1
}
# compared SESSION: print the sums of N and of M in the lines "snapshot: N stacks compared, the fast walk had
# the same managed frames in M" of the report.
compared() {
    "$sxsprof" report "$@" 2>/dev/null | awk '/^  snapshot: .* stacks compared, / { n += $2; m += $14 }
        END { printf "%d %d\n", n, m }'
}

work="nre=100 div=100 gcs=20 loops=1 pool=100 seconds=2"
stress() { # ROUND RUNTIMES
    round=$1 how=$2
    set --
    for v in $how; do set -- "$@" "$v" stress "$work"; done
    run "s$round-$(echo "$how" | tr -d ' .')" cpu=499 "$@"
}
for how in "8 9 $net10" "9 $net10 8 8" "$net10"; do
    stress 1 "$how"
    check "the app stress on $how is suspended again and again, and the run succeeds" $? "$tmp/log"
done
count() { # set total to the number of stacks compared so far, and same to the number of equal ones
    total=0 same=0
    for d in "$tmp"/s*/; do
        # shellcheck disable=SC2046
        set -- $(compared "$d")
        total=$((total + $1)) same=$((same + $2))
    done
}

# All differences found so far were errors of the fast walk, so differing stacks are printed for inspection.
# On a busy machine a round compares fewer stacks, and more rounds are run.
count
for round in 2 3 4; do
    [ $total -ge 500 ] && break
    stress $round "8 9 $net10" || break
    count
done
echo "# $same of $total stacks alike"
[ "$total" -ge 500 ] && [ $((total - same)) -le $((1 + total / 1000)) ]
s=$?
[ $s -eq 0 ] || for d in "$tmp"/s*/; do "$sxsprof" report --top 3 "$d" 2>/dev/null | sed -n '/^stacks that differ/,$p'; done >"$tmp/differ"
check "at least 500 stacks are compared, and the fast walk has the same managed frames in 99.9 % of them" $s "$tmp/differ"

# Call chains go from the host's thread through one runtime to its function, without the frames of the
# suspension. For a thread that gets no processor in the time that it has to answer, only managed frames are
# recorded.
run shares cpu=199 --bridge 8 shares "alpha=40 beta=30 seconds=2" $net10 shares "alpha=20 native=10 seconds=2"
check "a run of two runtimes with a bridge succeeds" $? "$tmp/log"
"$sxsprof" report --format collapsed "$tmp/shares" >"$tmp/collapsed" 2>/dev/null
awk '{ n = $NF } /Program\.Alpha/ { all += n } /runsxs!run_thread;.*Program\.Main;[^;]*Program\.Alpha/ { whole += n }
     /Program\.Alpha.*libcoreclr[^;]*;.*pthread_cond_wait/ { waits += n }
     END { printf "# %.2f s with Alpha, %.2f whole, %.2f waiting for the suspension\n", all / 1e9, whole / 1e9, waits / 1e9
           exit !(all > 25e7 && whole >= 0.9 * all && waits <= 0.02 * all) }' "$tmp/collapsed" >"$tmp/chains"
s=$?
check "the call chains of the run are complete and have no frames of the suspension: $(cat "$tmp/chains")" $s "$tmp/chains"

run hops cpu=499 --bridge 8 hops "30 managed,mixed $tmp/h" 9 hops "30 managed,mixed $tmp/h" \
    $net10 hops "30 managed,mixed $tmp/h"
check "three runtimes that call each other are suspended together, and the run succeeds" $? "$tmp/log"

# Wall time: a waiting thread is recorded at the place where it waits.
run wall wall=99 9 shares "alpha=100 seconds=1"
check "a run sampled by wall time succeeds" $? "$tmp/log"
"$sxsprof" report "$tmp/wall" 2>/dev/null >"$tmp/text"
grep -qE '^ +[0-9.]+ % +[0-9]+ +(100|[1-9][0-9])\.[0-9] %  ' "$tmp/text" && grep -q 'of it waiting' "$tmp/text"
check "the report of the run by wall time has waiting threads" $? "$tmp/text"

# One runtime ends while the other runtimes are still being suspended.
good=0
for i in 1 2 3; do
    run "early$i" cpu=499 8 stress "nre=10 gcs=2 loops=1 seconds=0" 9 stress "nre=50 gcs=5 loops=1 seconds=2" \
        $net10 hello "" && good=$((good + 1))
done
[ $good -eq 3 ]
check "runtimes that end early do not block the others: $good of 3 runs succeed" $? "$tmp/log"

# kill -9 while stacks are being compared: the numbers of the session must survive.
"$sxsprof" run --quiet --tool sample:cpu=997,walker=snapshot -o "$tmp/killed" -- \
    "$runsxs" --timeout 300 8 shares 'alpha=100 seconds=200' >"$tmp/log" 2>&1 &
run=$!
some() { [ "$(compared "$tmp/killed")" != "0 0" ]; }
wait_until some
kill -KILL "$(basename "$tmp"/killed/[0-9]*)"
wait $run 2>/dev/null
"$sxsprof" report "$tmp/killed" 2>/dev/null | grep -q '  snapshot: [1-9]'
check "after kill -9, the report has the number of compared stacks" $? "$tmp/log"
finish
