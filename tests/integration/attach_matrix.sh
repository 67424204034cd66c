# SPDX-License-Identifier: MIT
# attach_matrix.sh - attaches to a running program in every way, and checks after each that nothing is left behind (no
# session, recording, mapping, thread, socket, folder or line on the program's standard error) and that the next attach
# records at once. attach_library.sh has the ways of root: containers and chroots.
#
# RUNS=4       attaches in a row, and rounds of two at once (make check-attach: 20)
# STEP=200     milliseconds from one killed command to the next (make check-attach: 50)
# ONLY=LIST    versions of the runtime
. "$(dirname "$0")/lib.sh"
need_real 1
: "${RUNS:=4}" "${STEP:=200}" "${MOST:=800}" "${ONLY:=$(echo "$versions" | tail -n 1)}"
mkdir "$tmp/tmp" "$tmp/installed"
export TMPDIR=$tmp/tmp
cp "$sxsprof" "$BUILD/libsxsprof.so" "$tmp/installed/" || exit 1
command=$tmp/installed/sxsprof

start() { # VERSION
    rm -f "$tmp/until"
    SXSPROF_SIGNALS=${signals:-} timeout -k 5 600 "$runsxs" --timeout 580 "$1" stress \
        "nre=2 div=0 gcs=20 loops=1 pool=20 until=$tmp/until" >"$tmp/out.log" 2>"$tmp/err.log" &
    outer=$!
    started() { pid=$(pgrep -P $outer -x runsxs) && grep -q 'stress\.dll' "/proc/$pid/maps"; }
    wait_until started
}
ms() { echo $(($(date +%s%N) / 1000000)); }
# A machine whose processors are waited for gets more time.
limit() { awk -F'[ =]' '/^some/ { print ($3 > 20) ? 15000 : 2000; n = 1 } END { if (!n) print 2000 }' /proc/pressure/cpu 2>/dev/null || echo 15000; }
sockets() { find "/proc/$pid/fd" "/proc/$pid"/task/*/fd -lname 'socket:*' -printf '%l\n' 2>/dev/null | sort -u | wc -l; }
copies() { grep 'libsxsprof\.so' "/proc/$pid/maps" | awk '{ print $5, $6 }' | sort -u | wc -l; }
own_threads() { cat "/proc/$pid"/task/*/comm 2>/dev/null | grep -c '^sxsprof'; }
idle() {
    ! grep -q '/census$' "/proc/$pid/maps" && [ "$(own_threads)" -le 3 ] &&
        [ -z "$(find "$tmp/tmp" -mindepth 1 -maxdepth 1 -name 'sxsprof-*' -print -quit)" ]
}
slowest=0
# next_attach CLAIM: the next attach records at once, and nothing is left behind it
next_attach() {
    local began now status
    began=$(ms)
    rm -rf "$tmp/next"
    timeout 100 "$command" attach --tool sample --duration 50ms -o "$tmp/next" "$pid" >"$tmp/attach" 2>&1
    status=$?
    now=$(($(ms) - began))
    [ $now -gt $slowest ] && slowest=$now
    echo "status $status, $now ms, $(copies) copies, $(own_threads) threads, $(sockets) sockets" >>"$tmp/attach"
    [ $status = 0 ] && [ $now -le "$(limit)" ] && [ "$(copies)" = 1 ] && wait_until idle
}
# after CLAIM
after() {
    next_attach
    check "$1: the next attach records at once, with one copy of the library, and leaves nothing" $? "$tmp/attach"
}

one() { # VERSION
    start "$1"
    next_attach
    check "$1: the first attach" $? "$tmp/attach"
    before=$(sockets)

    good=0
    for n in $(seq "$RUNS"); do
        if next_attach; then good=$((good + 1)); else sed 's/^/# /' "$tmp/attach"; fi
    done
    [ $good = "$RUNS" ]
    check "$1: $good of $RUNS attaches in a row record at once" $?

    # The command is killed at each moment of an attach, and the next one comes at once.
    bad=0
    for at in $(seq "$STEP" "$STEP" "$MOST"); do
        timeout 100 "$command" attach --tool sample --tool gc -o "$tmp/killed" "$pid" >"$tmp/kill" 2>&1 &
        attacher=$!
        sleep "$((at / 1000)).$(printf %03d $((at % 1000)))"
        kill -9 "$(pgrep -P $attacher)" 2>/dev/null
        wait $attacher 2>/dev/null
        next_attach || { bad=$((bad + 1)) && sed "s/^/# killed after $at ms: /" "$tmp/attach"; }
        rm -rf "$tmp/killed"
    done
    [ $bad = 0 ]
    check "$1: the command is killed after $STEP to $MOST ms: each next attach records at once" $?

    # Two at once: one records, the other one is refused or comes after it.
    bad=0
    for n in $(seq "$RUNS"); do
        for i in 1 2; do
            timeout 100 "$command" attach --duration 200ms -o "$tmp/two.$i" "$pid" >"$tmp/attach.$i" 2>&1 &
            eval "a$i=\$!"
        done
        wait "$a1"
        s1=$?
        wait "$a2"
        case "$s1 $?" in
        "0 0" | "0 2") [ $s1 = 0 ] ;;
        "2 0") true ;;
        *) false ;;
        esac || { bad=$((bad + 1)) && sed 's/^/# /' "$tmp"/attach.[12]; }
        rm -rf "$tmp"/two.*
    done
    [ $bad = 0 ]
    check "$1: of two attaches at once, one records each time, and the other one is refused or records later" $?
    after "$1: two at once"

    # Another file in the place of the library, by rename: as a package manager does it.
    cp "$BUILD/libsxsprof.so" "$tmp/installed/new" && mv "$tmp/installed/new" "$tmp/installed/libsxsprof.so"
    after "$1: after an upgrade"
    after "$1: after an upgrade, once more"

    [ "$(sockets)" -le "$before" ]
    check "$1: no socket more than after the first attach" $?
    [ ! -s "$tmp/err.log" ]
    check "$1: no line on the program's standard error" $? "$tmp/err.log"
    : >"$tmp/until"
    wait $outer
    check "$1: the program ends with status 0" $? "$tmp/out.log"
}
for version in $ONLY; do
    one "$version"
done
echo "# the slowest attach of 50 ms took $slowest ms"

# What the library has to say of an attach is in the session, not on the program's standard error.
signals=off start "$(echo "$versions" | tail -n 1)"
timeout 100 "$command" attach --tool sample --duration 100ms -o "$tmp/said" "$pid" >"$tmp/attach" 2>&1
[ ! -s "$tmp/err.log" ] && grep -q '/log: SXSPROF_SIGNALS=off' "$tmp/attach"
check "a line of the library's log is printed by the command, and not by the program" $? "$tmp/err.log"
"$sxsprof" report "$tmp/said" >"$tmp/text" 2>&1 && head -n 2 "$tmp/text" | grep -q '/log: SXSPROF_SIGNALS=off'
check "it is among the first lines of the report" $? "$tmp/text"
"$sxsprof" report --format json "$tmp/said" >"$tmp/json" 2>"$tmp/log"
[ "$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["log"])' "$tmp/json" | grep -c SIGNALS=off)" = 1 ]
check "and in JSON" $? "$tmp/json"
: >"$tmp/until"
wait $outer
finish
