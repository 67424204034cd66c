# SPDX-License-Identifier: MIT
# host_signals.sh - checks that hosts of CLRs can use their own signal handlers.
# The results of calls such as sigaction and the signals that arrive must be the same as without a CLR.
. "$(dirname "$0")/lib.sh"
need_real 3
app=$BUILD/managed/stress/stress.dll

timeout -k 5 60 "$BUILD/hosts/registering" >"$tmp/alone"
check "the control: a host without a CLR registers handlers in every way" $? "$tmp/alone"
for v in 8 9 10; do
    dir=$(echo "$BUILD"/runtimes/$v.*)
    timeout -k 5 60 "$sxsprof" run --quiet -- "$BUILD/hosts/registering" "$dir" "$app" >"$tmp/out" 2>"$tmp/err" &&
        diff "$tmp/alone" "$tmp/out" >>"$tmp/err"
    check "preloaded, with $v: calls return the own handlers of the host, and these are called as without a CLR" $? "$tmp/err"
done

rtmin() { # CLAIM OPTIONS-OF-sxsprof-run WHEN VERSION...
    claim=$1 how=$2 when=$3 dirs=
    shift 3
    for v; do dirs="$dirs $(echo "$BUILD"/runtimes/"$v".*)"; done
    # shellcheck disable=SC2086
    timeout -k 5 120 "$sxsprof" run --quiet $how -- "$BUILD/hosts/own_rtmin" "$when" "$app" $dirs >"$tmp/log" 2>&1 &&
        { [ -n "$how" ] || grep -q 'tells of its own' "$tmp/log"; }
    check "a host receives its SIGRTMIN with a handler $claim" $? "$tmp/log"
}
rtmin "installed before 8, preloaded" "" before 8
rtmin "installed before 10, preloaded" "" before 10
rtmin "installed between 8 and 9, preloaded" "" between 8 9
rtmin "installed after 8 and 10, preloaded" "" after 8 10
# The library's threads call runtimes meanwhile, and do not block their signals then. The host runs until three sessions
# have begun and ended beside it: on a busy machine one run of the host may be too short for them.
sessions=0 status=0
for _ in $(seq 20); do
    timeout -k 5 120 "$sxsprof" run --quiet -- "$BUILD/hosts/own_rtmin" after "$app" \
        "$(echo "$BUILD"/runtimes/8.*)" "$(echo "$BUILD"/runtimes/10.*)" >"$tmp/log" 2>&1 &
    run=$!
    while kill -0 $run 2>/dev/null; do
        pid=$(pgrep -P "$(pgrep -P $run)") || continue
        "$sxsprof" start -o "$tmp/s$sessions" --tool sample "$pid" >/dev/null 2>&1 && "$sxsprof" stop "$pid" >/dev/null 2>&1 &&
            sessions=$((sessions + 1))
        rm -rf "$tmp/s$sessions" # what a session has left that was not ended by stop
    done
    wait $run
    status=$?
    [ $status -eq 0 ] && [ $sessions -lt 3 ] || break
done
[ $status -eq 0 ] && [ $sessions -ge 3 ]
check "a host receives its SIGRTMIN while sessions begin and end" $? "$tmp/log"
rtmin "installed before 8, without preload" --no-preload before 8
rtmin "installed before 9 and 10, without preload" --no-preload before 9 10
rtmin "installed between 8 and 9, without preload" --no-preload between 8 9
rtmin "installed after 9, without preload" --no-preload after 9

# A host's SIGSEGV handler that is installed after the runtimes, as one that counts or logs faults: a runtime alone
# passes it every fault of managed code. The preloaded router gives it those that no runtime handles.
observes() { # CLAIM SEEN VERSION COMMAND...
    local claim=$1 seen=$2 v=$3
    shift 3
    HOSTS_RUNTIMES=$(realpath "$BUILD"/runtimes/"$v".*) HOSTS_GUEST=$(realpath "$BUILD/managed/guest") HOSTS_TMP=$tmp \
        timeout -k 5 60 "$@" "$BUILD/hosts/observes" >"$tmp/log" 2>&1 && grep -q "^observes: 100 faults, the handler saw $seen\$" "$tmp/log"
    check "$v: a host's SIGSEGV handler, installed after the runtime, $claim" $? "$tmp/log"
}
for v in 8 9 10; do
    observes "sees the faults of managed code (the control: without the library)" 100 $v env
    observes "sees them with --no-preload" 100 $v "$sxsprof" run --quiet --no-preload --
    observes "does not see them with preload, as the guide says" 0 $v "$sxsprof" run --quiet --
done
finish
