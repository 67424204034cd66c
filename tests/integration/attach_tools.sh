# SPDX-License-Identifier: MIT
# attach_tools.sh - checks attach with the tools that a runtime permits in parts only, or not at all, when it runs
# already: instrument on .NET 8, 9 and 10, native with and without its allocator, calls; and targets with a full disk or
# stopped in the middle of it.
. "$(dirname "$0")/lib.sh"
need_real 3
mkdir "$tmp/tmp" "$tmp/small"
cat >"$tmp/rules.xml" <<'X'
<instrumentation xmlns="urn:sxsprof:instrumentation:1">
  <rule name="all"><match assembly="stress" type="Stress.Faults" method="NullReferences"/><count/></rule>
</instrumentation>
X
sed 's/<count/<cuont/' "$tmp/rules.xml" >"$tmp/wrong.xml"

start() { # VERSION [NAME=VALUE]: sets $pid and $timeout_pid
    rm -f "$tmp/until"
    env TMPDIR="$tmp/tmp" "${@:2}" timeout -k 5 300 "$runsxs" --timeout 280 "$1" stress \
        "nre=3 div=0 gcs=5 loops=1 pool=20 until=$tmp/until" >"$tmp/log" 2>&1 &
    timeout_pid=$!
    wait_until started
}
started() { pid=$(pgrep -P $timeout_pid -x runsxs) && grep -q 'stress\.dll' "/proc/$pid/maps"; }
ends_well() { # CLAIM
    : >"$tmp/until"
    wait $timeout_pid
    check "$1: the program ends with status 0" $? "$tmp/log"
}
attach() { # ARGUMENTS...: into $tmp/out
    rm -rf "$tmp/out"
    timeout 120 "$sxsprof" attach -o "$tmp/out" "$@" "$pid" >"$tmp/attach" 2>&1
}
refused() { # CLAIM WORDS ARGUMENTS...
    attach "${@:3}"
    [ $? -eq 2 ] && grep -q "$2" "$tmp/attach" && [ ! -e "$tmp/out" ] && ! grep -q 'libsxsprof\.so' "/proc/$pid/maps"
    check "$1 is refused before anything is touched" $? "$tmp/attach"
}
says() { grep -q "$1" "$tmp/attach"; }
# attach_until COMMAND ARGUMENTS...: attach for a second, and for longer if the session does not have yet what COMMAND
# asks for: the program calls the method, which throws, once in a round, and on a busy machine a round is long.
attach_until() {
    local duration
    for duration in 1s 5s 30s; do
        attach --duration $duration "${@:2}" || return
        "$1" && return
    done
    return 1
}
samples() { "$sxsprof" report --data samples --format text "$tmp/out" >"$tmp/text" 2>&1 && grep -q stress "$tmp/text"; }
# counted: the method was called, and what it was called is its own IL again
counted() {
    "$sxsprof" report "$tmp/out" >"$tmp/text" 2>&1 &&
        grep -Eq 'reverted +[1-9][0-9]* .*Stress\.Faults\.NullReferences' "$tmp/text"
}
thrown() {
    "$sxsprof" report --format json "$tmp/out" >"$tmp/json" && jsonq "$tmp/json" 'r[0]["exceptions_thrown"]' >"$tmp/n" && [ "$(cat "$tmp/n")" -gt 0 ]
}

for version in 8 9 $net10; do
    start $version
    refused "runtime $version: calls" 'calls is left out.*hooks only when it starts' --tool calls
    refused "runtime $version: native without its allocator" 'must be preloaded' --tool native
    refused "runtime $version: instrument without rules" 'it needs rules' --tool instrument
    refused "runtime $version: a file of rules that does not exist" 'cannot be read by the process' \
        --tool "instrument:config=$tmp/none.xml"
    refused "runtime $version: wrong rules" 'wrong\.xml.*cuont' --tool "instrument:config=$tmp/wrong.xml"
    attach_until counted --tool "instrument:config=$tmp/rules.xml" && says 'cannot be detached afterwards'
    check "runtime $version: instrument counts calls after an attach, and reverts its methods" $? "$tmp/attach"
    says 'CORPROF_E_IRREVERSIBLE_INSTRUMENTATION_PRESENT'
    check "runtime $version: it is said that the runtime cannot be detached" $? "$tmp/attach"
    attach_until counted --tool "instrument:config=$tmp/rules.xml"
    check "runtime $version: a second attach with instrument counts again" $? "$tmp/attach"
    attach --duration 1s --tool sample && samples
    check "runtime $version: the next attach samples" $? "$tmp/attach"
    attach_until thrown --tool census
    check "runtime $version: the counts alone, which are always on, are a session, too" $? "$tmp/attach"
    ends_well "runtime $version"
done

start 9 LD_PRELOAD="$PWD/$BUILD/libsxsprof-malloc.so"
attach --duration 1s --tool native:interval=1k && "$sxsprof" report "$tmp/out" >"$tmp/text" 2>&1 &&
    grep -q 'allocated natively: .* in [1-9]' "$tmp/text"
check "native records after an attach when its allocator was preloaded" $? "$tmp/attach"
ends_well "native"

# The target is stopped while it is recorded, and goes on.
start $net10
rm -f "$tmp/attach"
attach --duration 2s --tool sample &
attacher=$!
recording() { grep -qs 'recording in process' "$tmp/attach"; }
wait_until recording
kill -STOP "$pid"
sleep 3
kill -CONT "$pid"
wait $attacher && samples
check "a target that is stopped for a while in the middle is recorded and left" $? "$tmp/attach"
attach --duration 500ms --tool sample && samples
check "it can be attached to again" $? "$tmp/attach"

# A full disk: files of the session cannot be made, or cannot grow. Needs root for a small file system.
if mount -t tmpfs -o size=64k tmpfs "$tmp/small" 2>/dev/null; then
    timeout 120 "$sxsprof" attach --duration 500ms -o "$tmp/small/out" "$pid" >"$tmp/attach" 2>&1
    [ $? -eq 2 ] && says 'No space left on device' && [ ! -e "$tmp/small/out" ]
    check "a full disk: the attach is refused with the reason" $? "$tmp/attach"
    umount "$tmp/small"
    mount -t tmpfs -o size=2m tmpfs "$tmp/small"
    timeout 120 "$sxsprof" attach --duration 1s --tool sample:cpu=999 --tool exceptions --tool events \
        -o "$tmp/small/out" "$pid" >"$tmp/attach" 2>&1
    [ $? -le 2 ]
    check "a disk that fills up: the attach ends" $? "$tmp/attach"
    umount "$tmp/small"
    attach --duration 500ms --tool sample && samples
    check "a full disk: the next attach records elsewhere" $? "$tmp/attach"
else
    ok "a full disk # SKIP needs root"
fi
ends_well "a full disk and a stop"
finish
