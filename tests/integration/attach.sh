# SPDX-License-Identifier: MIT
# attach.sh - checks that a running CLR loads the library when its diagnostics port is asked to
# (InitializeForAttach).
. "$(dirname "$0")/lib.sh"
need_real 3
clsid=$(sed -n 's/.*SXSPROF_CLSID "{\(.*\)}".*/\1/p' include/sxsprof.h)

runs() { pid=$(pgrep -P $timeout_pid -x runsxs) && grep -q 'stress\.dll' "/proc/$pid/maps"; }
shows() {
    "$sxsprof" report --format json "$dir" >"$tmp/json" 2>/dev/null &&
        [ "$(jsonq "$tmp/json" "r[0]['exceptions_thrown']>0 and r[0]['gcs']>0 and r[0]['signals']>0" 2>/dev/null)" = True ]
}
attach() { # version pick expected-state
    dir=$tmp/out.$1.$2
    rm -f "$tmp/until"
    SXSPROF_OUT=$dir SXSPROF_PICK=$2 timeout -k 5 200 "$runsxs" --timeout 180 "$1" stress \
        "nre=100 div=100 gcs=20 loops=1 pool=100 until=$tmp/until" >"$tmp/log" 2>&1 &
    timeout_pid=$!
    pid=
    wait_until runs
    answer=$(python3 tests/integration/attach.py "$pid" "$clsid" "$PWD/$BUILD/libsxsprof.so" 2>>"$tmp/log")
    attached=$?
    # A picked runtime has exceptions, collections and signals to report before the program ends.
    [ $attached -eq 0 ] && [ "$3" = picked ] && wait_until shows
    : >"$tmp/until"
    wait $timeout_pid
    status=$?
    "$sxsprof" report --format json "$dir" >"$tmp/json" 2>>"$tmp/log"
    echo "answer $answer, status $status" >>"$tmp/log"
    # A runtime for which attaching is cancelled answers with a failure HRESULT, and its program runs on.
    if [ $status -eq 0 ] && { [ $attached -eq 0 ] || [ "$3" = cancelled ]; } &&
        [ "$(jsonq "$tmp/json" "[x['state'] for x in r]==['$3']")" = True ] &&
        { [ "$3" != picked ] || [ "$(jsonq "$tmp/json" "r[0]['exceptions_thrown']>0 and r[0]['gcs']>0 and r[0]['signals']>0")" = True ]; }; then
        ok "attach to runtime $1 under load with pick $2: its state is $3 and the program ends with status 0"
    else
        cat "$tmp/json" >>"$tmp/log"
        not_ok "attach to runtime $1 under load with pick $2: its state is not $3 or the program failed" "$tmp/log"
    fi
}
attach 8 all picked
attach 9 all picked
attach $net10 all picked
attach 9 one:8 guarded
SXSPROF_UNPICKED=cancel attach $net10 one:8 cancelled
finish
