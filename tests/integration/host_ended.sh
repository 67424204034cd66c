# SPDX-License-Identifier: MIT
# host_ended.sh - checks that SIGTERM reaches the runtimes that run, when the host has shut others down.
. "$(dirname "$0")/lib.sh"
need_real 3
app=$(realpath "$BUILD/managed/guest")

# ends CLAIM STATUS LINES "COMMAND" "VERSION..." ARGUMENTS...: the host "ended" ends with that status after the
# signal, and its runtimes print just these lines, separated by commas.
ends() {
    local claim=$1 status=$2 lines=$3 how=$4 dirs='' got v
    for v in $5; do dirs="$dirs${dirs:+:}$(realpath "$BUILD"/runtimes/"$v".*)"; done
    shift 5
    # shellcheck disable=SC2086
    { # the shell would tell of the signal
        HOSTS_RUNTIMES=$dirs HOSTS_GUEST=$app HOSTS_TMP=$tmp \
            timeout -k 5 120 $how "$BUILD/hosts/ended" "$@" >"$tmp/log" 2>&1
        got=$?
    } 2>/dev/null
    echo "status $got" >>"$tmp/log"
    [ $got -eq "$status" ] && ! grep -q WRONG "$tmp/log" &&
        [ "$(sed -n '/^sends the signal/,$s/^guest: //p' "$tmp/log" | paste -sd ,)" = "$lines" ]
    check "$claim" $? "$tmp/log"
}
preloaded="$sxsprof run --quiet --" # both are split into words
patched="$sxsprof run --quiet --no-preload --"

# .NET 10 does not raise ProcessExit at SIGTERM: it passes the signal on.
ends "the control, without the library: SIGTERM is lost when 8 was shut down and 10 runs" 9 "" "" "8 10" wait=3 15 0
ends "8 was shut down, 10 runs: SIGTERM ends the process" 143 "" "$preloaded" "8 10" 15 0
ends "8 was shut down, which started last, and 10 runs: SIGTERM ends the process" 143 "" "$preloaded" "10 8" 15 1
ends "8 was shut down, 10 runs: registrations for SIGTERM are called, then the process ends" \
    143 "signal 15,signal 15" "$preloaded" "8 10" notes 15 0
ends "9 was shut down, 8 runs: SIGTERM raises ProcessExit in 8" 143 "exit 0" "$preloaded" "8 9" 15 1
ends "8 was shut down, 9 runs: SIGTERM raises ProcessExit in 9" 143 "exit 1" "$preloaded" "8 9" 15 0
ends "9 and 10 were shut down, 8 runs: SIGTERM raises ProcessExit in 8" 143 "exit 1" "$preloaded" "9 8 10" 15 0 2
ends "all three were shut down: SIGTERM ends the process" 143 "" "$preloaded" "9 8 10" 15 1 0 2
ends "8 and 9 were shut down: SIGTERM calls the handler that the host had before" 5 "" "$preloaded" "8 9" own 15 0 1
ends "8 was shut down, 10 runs: SIGTERM calls the handler that the host had before" 5 "" "$preloaded" "8 10" own 15 0
ends "8 runs, 10 runs: SIGTERM raises ProcessExit in 8, as without the library" 143 "exit 0" "$preloaded" "8 10" 15
ends "8 alone was shut down: SIGTERM is lost, as without the library" 9 "" "$preloaded" "8" wait=3 15 0
ends "not preloaded: 8 was shut down, which started last, and 10 runs: SIGTERM ends the process" \
    143 "" "$patched" "10 8" 15 1
# The runtimes handle these well themselves.
for sig in 1 2 3; do
    ends "8 was shut down, 10 runs: signal $sig ends the process, as without the library" \
        $((128 + sig)) "" "$preloaded" "8 10" $sig 0
done
finish
