# SPDX-License-Identifier: MIT
# The walker "snapshot" on real runtimes: runs end well under faults and collections, the fast walk
# agrees with it, chains are complete, waiting threads are seen, a runtime may end before the others.
. "$(dirname "$0")/lib.sh"
need_real 3
run() { # OUT OPTIONS ARGUMENTS...: a run of runsxs, with its own time limit
    out=$1 options=$2; shift 2
    timeout -k 5 70 "$sxsprof" run --quiet --tool "sample:$options,walker=snapshot" -o "$tmp/$out" -- \
        "$runsxs" --timeout 60 "$@" >"$tmp/log" 2>&1
}
# The numbers of "snapshot: N stacks compared, the fast walk had the same managed frames in M".
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
for how in "8 9 10.0.11" "9 10.0.11 8 8" "10.0.11"; do
    stress 1 "$how"
    check "stress on $how is suspended again and again and ends well" $? "$tmp/log"
done
count() { # all that was compared so far
    total=0 same=0
    for d in "$tmp"/s*/; do
        # shellcheck disable=SC2046
        set -- $(compared "$d")
        total=$((total + $1)) same=$((same + $2))
    done
}

# Everything differing so far was the fast walk's fault, so anything that differs is looked at. On a busy machine a round has
# fewer stacks: more rounds then.
count
for round in 2 3 4; do
    [ $total -ge 500 ] && break
    stress $round "8 9 10.0.11" || break
    count
done
echo "# $same of $total stacks alike"
[ "$total" -ge 500 ] && [ $((total - same)) -le $((1 + total / 1000)) ]
s=$?
[ $s -eq 0 ] || for d in "$tmp"/s*/; do "$sxsprof" report --top 3 "$d" 2>/dev/null | sed -n '/^stacks that differ/,$p'; done >"$tmp/differ"
check "the fast walk has the same managed frames in 99.9 % of them" $s "$tmp/differ"

# Chains from the host's thread through one runtime to its function, the suspension's own frames cut off.
# A thread that gets no processor in the time it has to answer tells its managed frames alone.
run shares cpu=199 --bridge 8 shares "alpha=40 beta=30 seconds=2" 10.0.11 shares "alpha=20 native=10 seconds=2"
check "a run across a bridge ends well" $? "$tmp/log"
"$sxsprof" report --format collapsed "$tmp/shares" >"$tmp/collapsed" 2>/dev/null
awk '{ n = $NF } /Program\.Alpha/ { all += n } /runsxs!work;.*Program\.Main;[^;]*Program\.Alpha/ { whole += n }
     /Program\.Alpha.*libcoreclr[^;]*;.*pthread_cond_wait/ { waits += n }
     END { printf "# %d samples with Alpha, %d whole, %d waiting for the suspension\n", all, whole, waits
           exit !(all > 50 && whole >= 0.9 * all && waits <= 0.02 * all) }' "$tmp/collapsed" >"$tmp/chains"
s=$?
check "its chains are whole and show the program alone: $(cat "$tmp/chains")" $s "$tmp/chains"

run hops cpu=499 --bridge 8 hops "30 managed,mixed $tmp/h" 9 hops "30 managed,mixed $tmp/h" \
    10.0.11 hops "30 managed,mixed $tmp/h"
check "three runtimes that call each other are suspended together" $? "$tmp/log"

# Wall time: who waits is seen where it waits.
run wall wall=99 9 shares "alpha=100 seconds=1"
check "a wall-clock run ends well" $? "$tmp/log"
"$sxsprof" report "$tmp/wall" 2>/dev/null >"$tmp/text"
grep -qE '^ +[0-9.]+ % +[0-9]+ +(100|[1-9][0-9])\.[0-9] %  ' "$tmp/text" && grep -q 'of it waiting' "$tmp/text"
check "its report has waiting threads" $? "$tmp/text"

# One ends while the others go on being suspended.
good=0
for i in 1 2 3; do
    run "early$i" cpu=499 8 stress "nre=10 gcs=2 loops=1 seconds=0" 9 stress "nre=50 gcs=5 loops=1 seconds=2" \
        10.0.11 hello "" && good=$((good + 1))
done
[ $good -eq 3 ]
check "runtimes that end early do not hold up the others: $good of 3" $? "$tmp/log"

# kill -9 in the middle, and a fork with everything running: nobody is left suspended.
"$sxsprof" run --quiet --tool sample:cpu=997,walker=snapshot -o "$tmp/killed" -- \
    "$runsxs" --timeout 300 8 shares 'alpha=100 seconds=200' >"$tmp/log" 2>&1 &
run=$!
some() { [ "$(compared "$tmp/killed")" != "0 0" ]; }
wait_until some
kill -KILL "$(basename "$tmp"/killed/[0-9]*)"
wait $run 2>/dev/null
"$sxsprof" report "$tmp/killed" 2>/dev/null | grep -q '  snapshot: [1-9]'
check "after kill -9 what was compared is still told" $? "$tmp/log"
finish
