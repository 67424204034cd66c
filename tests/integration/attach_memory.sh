# SPDX-License-Identifier: MIT
# attach_memory.sh - checks that a process's memory comes back after attach and detach: the program quiet does the same
# little work all the time and moves by some KiB without an attach, so what appears in it was left by the attaches.
# VERSIONS and TOOLS (separated by blanks) choose; FIRST attaches fill the arenas of malloc(), RUNS more are measured.
. "$(dirname "$0")/lib.sh"
need_real 1
: "${VERSIONS:=9}" "${TOOLS:=sample alloc}" "${FIRST:=5}" "${RUNS:=8}"
# Measured with 20 attaches: at most 280 KiB, in one step (an arena that a thread used for the first time).
most_kib=1024

dirty_kib() { awk '/^Private_Dirty:/ { sum += $2 } END { print sum }' "/proc/$pid/smaps_rollup"; }
started() { pid=$(pgrep -P $timeout_pid -x runsxs) && grep -q 'quiet\.dll' "/proc/$pid/maps"; }
attaches() { # N TOOL
    local n
    for n in $(seq "$1"); do
        rm -rf "$tmp/out"
        timeout 120 "$sxsprof" attach --tool "$2" --duration 100ms -o "$tmp/out" "$pid" >"$tmp/attach" 2>&1 || return 1
    done
}
# The program's own memory moves while it starts, and what is freed goes back a little later on a busy machine.
is_steady() {
    local before
    before=$(dirty_kib)
    sleep 1
    [ $(($(dirty_kib) - before)) -lt 64 ]
}
grew_little() {
    grew=$(($(dirty_kib) - first))
    [ $grew -le $most_kib ]
}
measure() { # VERSION TOOL
    rm -f "$tmp/until"
    mkdir -p "$tmp/tmp"
    TMPDIR=$tmp/tmp DOTNET_TieredCompilation=0 timeout -k 5 300 "$runsxs" "$1" quiet "$tmp/until work" >"$tmp/log" 2>&1 &
    timeout_pid=$!
    wait_until started
    wait_until is_steady
    if attaches "$FIRST" "$2" && wait_until is_steady && first=$(dirty_kib) && attaches "$RUNS" "$2"; then
        wait_until grew_little
        check "runtime $1, tool $2: $RUNS attaches leave at most $most_kib KiB (they left $grew)" $?
    else
        not_ok "runtime $1, tool $2: each attach records and detaches" "$tmp/attach"
    fi
    : >"$tmp/until"
    wait $timeout_pid
    check "runtime $1, tool $2: the program ends with status 0" $? "$tmp/log"
}
for version in $VERSIONS; do
    for tool in $TOOLS; do
        measure "$version" "$tool"
    done
done
finish
