# SPDX-License-Identifier: MIT
# sampling.sh - checks the sessions of four sampled runtimes (8, 9, 10, and 8 again) under stress.
# The apps cause faults and collections and use thread pools. The host runs short native threads, loads and
# unloads a plugin, starts children of every kind, and has waiting threads (docs/internals/harness.md). Each
# run must end well, its session must be complete, and the sum of its samples must agree with the CPU time of
# the process. Called by `make soak`; can also be run directly.
#
# MINUTES       total time of all runs (30)
# SECONDS_EACH  time of work in one run (20)
# KINDS         only kinds that contain this text
. "$(dirname "$0")/../integration/lib.sh"
need_real 3
: "${MINUTES:=30}" "${SECONDS_EACH:=20}" "${KINDS:=}"
keep=${KEEP:-$BUILD/soak-failures}
limit=$((SECONDS_EACH * 4 + 40)) # seconds; generous, because a busy machine is slow
work="nre=100 div=100 gcs=20 loops=1 pool=100 seconds=$SECONDS_EACH"
stress="threads=1000 loads=20 forks=5 execs=5 spawns=5 waiters=2"

all="cpu=997 wall=997 cpu=199 cpu=997,--no-preload wall=997,--no-preload cpu=997,walker=unwind
wall=199 cpu=997 wall=997,--no-preload cpu=199,--no-preload"
# The slow walker, if this build has it.
"$sxsprof" run --quiet --tool sample:cpu=99,walker=snapshot -- true >/dev/null 2>&1 &&
    all="$all cpu=99,walker=snapshot"
kinds=""
for kind in $all; do
    case $kind in *"$KINDS"*) kinds="$kinds $kind" ;; esac
done
[ -n "$kinds" ] || { echo "sampling: no kind contains '$KINDS'"; exit 2; }

# Prints the stacks of a run that hangs. $1: pid of sxsprof run
dump() {
    command -v gdb >/dev/null || return 0
    for pid in $(pgrep -P "$1") $(pgrep -P "$(pgrep -P "$1" | head -n 1)" 2>/dev/null); do
        echo "---- stacks of $pid"
        timeout 120 gdb -batch -p "$pid" -ex 'set pagination off' -ex 'thread apply all bt 30' 2>&1
    done
}

# Starts a run and waits for its end. Sets $status to its exit status; 124: the run hung and was killed.
run_one() { # OPTIONS-OF-SAMPLE OPTIONS-OF-RUN
    # shellcheck disable=SC2086
    "$sxsprof" run --quiet $2 --tool "sample:$1" -o "$tmp/session" -- "$runsxs" --churn "$stress" \
        8 stress "$work" 9 stress "$work" $net10 stress "$work" 8 stress "$work" >"$tmp/log" 2>&1 &
    run=$!
    began=$(date +%s)
    while kill -0 $run 2>/dev/null && [ $(($(date +%s) - began)) -lt $limit ]; do sleep 0.2; done
    if kill -0 $run 2>/dev/null; then
        dump $run >>"$tmp/log" 2>&1
        for pid in $(pgrep -P $run); do kill -KILL "$pid"; done
        wait $run
        status=124
    else
        wait $run
        status=$?
    fi
}

# Makes a run of one kind. Prints the error, with status 1; or the line of agrees.py, with status 0.
judge() {
    run_one "$1" "$2"
    [ $status -eq 0 ] || { echo "ended with status $status: $(grep -o 'failed=[^ ]*' "$tmp/log")"; return 1; }
    if grep -v '^stress: \|^runsxs: ' "$tmp/log" >"$tmp/said"; then
        echo "said: $(head -n 1 "$tmp/said")"
        return 1
    fi
    timeout 300 "$sxsprof" report --format text --top 100000 -o "$tmp/text" "$tmp/session" >"$tmp/said" 2>&1 ||
        { echo "its report: status $?: $(head -n 1 "$tmp/said")"; return 1; }
    python3 tests/soak/agrees.py "$tmp/session" "$tmp/log" "$tmp/text"
}

# Keeps the logs and the session of a run that failed.
save() { # name
    mkdir -p "$keep"
    rm -rf "${keep:?}/$1"
    mkdir "$keep/$1"
    cp -r "$tmp/log" "$tmp/session" "$tmp/text" "$tmp/said" "$keep/$1/" 2>/dev/null
}

bad=0 n=0
end=$(($(date +%s) + $(awk "BEGIN { print int(($MINUTES) * 60 + 1) }")))
while [ $n -eq 0 ] || [ "$(date +%s)" -lt "$end" ]; do
    for kind in $kinds; do
        [ $n -eq 0 ] || [ "$(date +%s)" -lt "$end" ] || break
        options=${kind%%,--*}
        how=""
        [ "$options" = "$kind" ] || how=--${kind#*,--}
        rm -rf "$tmp/session" "$tmp/text"
        n=$((n + 1))
        began=$(date +%s)
        if wrong=$(judge "$options" "$how"); then result=good; else result=BAD; fi
        echo "$kind $result $(($(date +%s) - began)) $wrong" >>"$tmp/results"
        [ -t 1 ] && printf '\r%-60s\r' ""
        if [ $result = BAD ]; then
            bad=1
            save "sampling.$n"
            echo "$kind: $wrong (kept in $keep/sampling.$n)"
        fi
        [ -t 1 ] && printf '\rrun %d, %s; %d s left' $n "$kind" $((end - $(date +%s)))
    done
done
[ -t 1 ] && printf '\r%-60s\r' ""
for kind in $(echo "$kinds" | tr ' ' '\n' | sort -u); do
    awk -v kind="$kind" '$1 == kind { n++; s += $3; good += $2 == "good"; $1 = $2 = $3 = ""; last = $0 }
        END { if (n) printf "sampling %-24s %d of %d well; %d s; last:%s\n", kind, good, n, s, last }' "$tmp/results"
done
exit $bad
