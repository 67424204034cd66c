# SPDX-License-Identifier: MIT
# attach_detach.sh - checks sxsprof attach on programs that run already: each of .NET 8, 9 and 10, and all three in
# one process. Each is attached to and left RUNS times (3), the tools taking turns; each session must be complete, the
# program must do the same work, and its memory, threads and descriptors must be what they were, within bounds.
#
# RUNS=100     attaches to each program
# TOOLS=all    or a list of tools, separated by blanks (sample exceptions gc)
# MS=500       how long each attach records
# ONLY=LIST    programs: 8 9 $net10 three; the last one is always there, because further checks use it
. "$(dirname "$0")/lib.sh"
need_real 3
: "${RUNS:=3}" "${TOOLS:=sample exceptions gc}" "${MS:=500}" "${ONLY:=8 9 $net10 three}"
. tests/integration/attach_many.inc
work="nre=2 div=0 gcs=20 loops=1 pool=100"

start() { # NAME ARGUMENTS...: sets $pid and $timeout_pid
    rm -f "$tmp/until"
    mkdir -p "$tmp/tmp"
    TMPDIR=$tmp/tmp timeout -k 5 $((600 + RUNS * 10)) "$runsxs" --timeout $((580 + RUNS * 10)) "$@" >"$tmp/log" 2>&1 &
    timeout_pid=$!
    wait_until started
}
started() { pid=$(pgrep -P $timeout_pid -x runsxs) && [ "$(grep -c 'r-xp.*stress\.dll\|stress\.dll' "/proc/$pid/maps")" -gt 0 ]; }
stop() { # sets $status: of the program
    : >"$tmp/until"
    wait $timeout_pid
    status=$?
}
# session DIR N: the session has N runtimes that were picked, and samples of the program
session() {
    has_session "$1" sample "$2" && "$sxsprof" report --data samples --format text "$1" >"$tmp/text" 2>>"$tmp/attach" &&
        grep -q 'stress' "$tmp/text"
}

one() { # VERSION
    start "$1" stress "$work until=$tmp/until"
    attach_many "runtime $1" 1
    stop
    check "runtime $1: the program ends with status 0 afterwards" $status "$tmp/log"
}
for version in $ONLY; do
    [ "$version" = three ] || one "$version"
done

# Three runtimes in one process: a port in connect mode reaches all of them. Without the signal router they would take
# each other's signals.
DOTNET_DiagnosticPorts=$tmp/port,nosuspend LD_PRELOAD=$PWD/$BUILD/libsxsprof-preload.so
export DOTNET_DiagnosticPorts LD_PRELOAD
start 8 stress "$work until=$tmp/until" 9 stress "$work until=$tmp/until" $net10 stress "$work until=$tmp/until"
unset DOTNET_DiagnosticPorts LD_PRELOAD
three() { [ "$(grep -c 'r-xp.*/libcoreclr\.so' "/proc/$pid/maps")" = 3 ]; }
wait_until three
attach_many "three runtimes" 3

# Second attacher, SIGINT, SIGKILL, detach.
recording() { grep -qs 'recording in process' "$tmp/first.log"; }
# attach_behind FOLDER: attach in the background, until it records; sets $attacher
attach_behind() {
    rm -f "$tmp/first.log" # that of the one before
    "$sxsprof" attach -o "$tmp/$1" "$pid" >"$tmp/first.log" 2>&1 &
    attacher=$!
    wait_until recording
}
attach_behind first
"$sxsprof" attach -o "$tmp/second" "$pid" >"$tmp/second.log" 2>&1
[ $? -eq 2 ] && grep -q "records in it already.*$tmp/first" "$tmp/second.log" && [ ! -e "$tmp/second" ]
check "a second attach is refused, and is told the tools and the folder" $? "$tmp/second.log"
kill -INT $attacher
wait $attacher
check "SIGINT ends the recording with status 0" $? "$tmp/first.log"
session "$tmp/first" 3
check "the session that SIGINT ended is complete" $? "$tmp/first.log"

free_again() { "$sxsprof" attach --quiet --duration 100ms -o "$tmp/again" "$pid" >"$tmp/again.log" 2>&1; }
attach_behind killed
kill -KILL $attacher
wait $attacher 2>/dev/null
wait_until free_again
check "a killed attach leaves a process that can be attached to again" $? "$tmp/again.log"
"$sxsprof" report "$tmp/killed" >"$tmp/text" 2>&1
check "the session of a killed attach can be read" $? "$tmp/text"

attach_behind detached
"$sxsprof" detach "$pid" >"$tmp/second.log" 2>&1
check "sxsprof detach ends a session of another terminal" $? "$tmp/second.log"
wait $attacher
check "the attach that it belonged to ends" $? "$tmp/first.log"

# The process ends while it is attached to.
attach_behind ended
stop
check "three runtimes: the program ends with status 0 while it is recorded" $status "$tmp/log"
wait $attacher
check "the attach ends with the process" $? "$tmp/first.log"
session "$tmp/ended" 3
check "its session is complete" $? "$tmp/first.log"

# Stopped and killed processes.
start 9 stress "$work until=$tmp/until"
kill -STOP "$pid"
"$sxsprof" attach -o "$tmp/stopped" "$pid" >"$tmp/first.log" 2>&1
[ $? -eq 2 ] && grep -q 'stopped' "$tmp/first.log" && [ ! -e "$tmp/stopped" ]
check "a stopped process is refused" $? "$tmp/first.log"
kill -CONT "$pid"
attach_behind dies
kill -KILL "$pid"
wait $timeout_pid 2>/dev/null
wait $attacher
check "the attach to a process that is killed ends with status 0" $? "$tmp/first.log"
"$sxsprof" report "$tmp/dies" >"$tmp/text" 2>&1
check "the session of a killed process can be read" $? "$tmp/text"
finish
