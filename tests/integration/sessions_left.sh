# SPDX-License-Identifier: MIT
# sessions_left.sh - checks that sessions that end leave nothing behind: after many sessions of each tool, a process has
# as many mappings, descriptors and threads as after the tenth, and as much memory.
#
# VERSIONS, TOOLS  what runs (separated by blanks; tools as --tool takes them; "rules" stands for instrumentation)
# MODES            start: sxsprof start and stop; attach: sxsprof attach; ring: the segments of continuous mode
# N                sessions of each tool and mode, after the first ten
. "$(dirname "$0")/lib.sh"
need_real 3
: "${VERSIONS:=$versions}" "${TOOLS:=sample wait alloc alloc:live=on locks exceptions events gc heap rules}" "${MODES:=start}" "${N:=12}"
# What moves by itself: the runtime's own mappings and arenas of malloc(); descriptors that a runtime or the command's
# connection opens for a moment; threads of the thread pool. A leak of one a session is more than that.
more_maps=8 more_fds=6 more_threads=5 more_kib=3072

cat >"$tmp/rules.xml" <<'XML'
<?xml version="1.0" encoding="utf-8"?>
<instrumentation xmlns="urn:sxsprof:instrumentation:1">
  <rule name="everything"><match assembly="quiet" type="*" method="*"/><trace/></rule>
</instrumentation>
XML
option() { case $1 in rules) echo "instrument:config=$tmp/rules.xml" ;; *) echo "$1" ;; esac; }
look() { # sets maps, fds, threads and kib
    maps=$(wc -l <"/proc/$pid/maps") fds=$(find "/proc/$pid/fd" -mindepth 1 2>/dev/null | wc -l)
    threads=$(find "/proc/$pid/task" -mindepth 1 -maxdepth 1 2>/dev/null | wc -l)
    kib=$(awk '/^Private_Dirty:/ { sum += $2 } END { print sum }' "/proc/$pid/smaps_rollup")
}
one_session() { # MODE TOOL
    rm -rf "$tmp/out"
    case $1 in
    start) "$sxsprof" start --tool "$(option "$2")" -o "$tmp/out" "$pid" >"$tmp/said" 2>&1 && sleep 0.02 &&
        "$sxsprof" stop "$pid" >>"$tmp/said" 2>&1 ;;
    attach) timeout 120 "$sxsprof" attach --tool "$(option "$2")" --duration 50ms -o "$tmp/out" "$pid" >"$tmp/said" 2>&1 ;;
    esac
}
many_sessions() { # COUNT MODE TOOL
    local n
    if [ "$2" = ring ]; then
        rm -rf "$tmp/out"
        "$sxsprof" start --tool "$(option "$3")" --keep 5s --segment 1s -o "$tmp/out" "$pid" >"$tmp/said" 2>&1 || return 1
        sleep "$1"
        "$sxsprof" stop "$pid" >>"$tmp/said" 2>&1
        return
    fi
    for n in $(seq "$1"); do
        one_session "$2" "$3" || return 1
    done
}
is_as_before() {
    look
    [ $((maps - maps_before)) -le $more_maps ] && [ $((fds - fds_before)) -le $more_fds ] &&
        [ $((threads - threads_before)) -le $more_threads ] && [ $((kib - kib_before)) -le $more_kib ]
}
is_live() { "$sxsprof" status "$pid" 2>/dev/null | grep -q ' live'; }
started() { pid=$(pgrep -P $timeout_pid -x runsxs) && grep -q 'quiet\.dll' "/proc/$pid/maps"; }

# leaves_nothing MODE TOOL: run the sessions; sets $rounds, the figures after the tenth session and after each round
leaves_nothing() {
    local round
    look
    rounds="$maps mappings, $fds descriptors, $threads threads, $kib KiB"
    for round in 1 2 3; do
        maps_before=$maps fds_before=$fds threads_before=$threads kib_before=$kib
        many_sessions "$N" "$1" "$2" || return 1
        for _ in $(seq 50); do # what ends by itself soon
            is_as_before && break
            sleep 0.1
        done
        rounds+="; $maps, $fds, $threads, $kib"
        is_as_before && return
    done
    return 1
}

begin() { # VERSION MODE: $pid is a process with that runtime
    rm -rf "$tmp/until" "$tmp/pid" "$tmp/first"
    mkdir -p "$tmp/tmp"
    if [ "$2" = attach ]; then
        TMPDIR=$tmp/tmp timeout -k 5 3000 "$runsxs" "$1" quiet "$tmp/until work" >"$tmp/log" 2>&1 &
        timeout_pid=$!
        wait_until started
        return
    fi
    # shellcheck disable=SC2016 # the shell that is started expands it, and is replaced by the program
    TMPDIR=$tmp/tmp timeout -k 5 3000 "$sxsprof" run --quiet -o "$tmp/first" -- sh -c 'echo $$ >"$0"; exec "$@"' "$tmp/pid" \
        "$runsxs" "$1" quiet "$tmp/until work" >"$tmp/log" 2>&1 &
    timeout_pid=$!
    wait_until test -s "$tmp/pid"
    pid=$(cat "$tmp/pid")
    wait_until is_live
}

for version in $VERSIONS; do
    for mode in $MODES; do
        begin "$version" "$mode"
        for tool in $TOOLS; do
            if ! many_sessions 10 "$mode" "$tool"; then
                not_ok "$version, $mode: sessions of $tool begin and end" "$tmp/said"
                continue
            fi
            sleep 0.3
            leaves_nothing "$mode" "$tool"
            check "$version, $mode: $N more sessions of $tool leave nothing ($rounds)" $? "$tmp/said"
        done
        : >"$tmp/until"
        wait $timeout_pid
        check "$version, $mode: the program ends with status 0" $? "$tmp/log"
        ! grep -E 'refuses|refused' "$tmp/log" >"$tmp/refused"
        check "$version, $mode: the runtime refused nothing" $? "$tmp/refused"
    done
done
finish
