# SPDX-License-Identifier: MIT
# attach_hang.sh - plays processes that keep an attach waiting: ports that answer nothing or a byte at a time, sixteen of
# them; ports, /tmp and the root folder on a file system that never answers. The command ends in time, and at a signal.
# run: without sanitizers
. "$(dirname "$0")/lib.sh"
needs_root attach_hang
. tests/hostile/target.inc
lair=$(lair $attacker lair)
run=$(mktemp -d /run/sxsprof-test.XXXXXX) || skip_all attach_hang "needs a folder below /run"
folder() { mkdir -p "$lair/$1" && chown $attacker "$lair/$1" && echo "$lair/$1"; }
(while sleep 0.5; do pressure; done >"$tmp/pressure" 2>/dev/null) &
sampler=$!
most_pressure() { sort -n "$tmp/pressure" | tail -n 1 | grep . || echo 0; }
timed() { # NAME PID COMMAND...: run it in the background; $tmp/NAME.seconds, .status and .log say how it went
    (began=$(date +%s%N)
        timeout -k 1 "${limit:-60}" "${@:3}" "$2" >"$tmp/$1.log" 2>&1
        echo $? >"$tmp/$1.status"
        echo $((($(date +%s%N) - began) / 1000000)) >"$tmp/$1.ms") &
    runners="${runners:-} $!"
}
# Eight seconds, and 1.5 s to remove what was made, on a machine with free processors. The command itself gives up to four
# times as much where threads wait for them, as the kernel says at one moment; so where they did at any time here.
in_time() { # NAME CLAIM: it ended by itself, with a problem, in time
    local status ms most
    status=$(cat "$tmp/$1.status" 2>/dev/null) ms=$(cat "$tmp/$1.ms" 2>/dev/null)
    most=$(($(most_pressure) < 3 ? 10500 : 40000))
    [ "${status:-124}" != 124 ] && [ "$status" != 137 ] && [ "$status" != 0 ] && [ "$ms" -le $most ]
    check "$2 (status ${status:-none}, ${ms:-?} ms of $most)" $? "$tmp/$1.log"
}

many=$(for n in $(seq 16); do printf '%s,listen;' "$(folder many)/port-$n"; done)
# shellcheck disable=SC2046 # a command and its arguments
{
    target $(user $attacker) env "DOTNET_DiagnosticPorts=${many%;}" -- mute
    timed many "$pid" "$sxsprof" attach -o "$tmp/many.out"
    target $(user $attacker) env "TMPDIR=$(folder drip)" -- drip
    timed drip "$pid" "$sxsprof" attach -o "$tmp/drip.out"
    target $(user $attacker) env "TMPDIR=$(folder late)" -- late
    timed late "$pid" "$sxsprof" attach -o "$tmp/late.out"
}
mkdir "$tmp/mute"
python3 tests/hostile/fuse.py "$tmp/mute" >"$tmp/fuse" 2>&1 &
server=$!
trap 'kill $sampler $server $pids 2>/dev/null; wait $pids 2>/dev/null; umount -l "$tmp/mute" 2>/dev/null; rm -rf "$tmp" "$run"' EXIT
is_mounted() { grep -q mounted "$tmp/fuse" || ! kill -0 $server 2>/dev/null; }
wait_until is_mounted
if grep -q mounted "$tmp/fuse" 2>/dev/null; then
    (sleep 90; kill $server) 2>/dev/null & # whoever hangs still, ends then
    pids="$pids $!"
    mute=$(for n in $(seq 8); do printf '%s/port-%d;%s/port-%d,listen;' "$tmp/mute" "$n" "$tmp/mute/x" "$n"; done)
    # shellcheck disable=SC2046 # a command and its arguments
    {
        target $(user $attacker) env "DOTNET_DiagnosticPorts=${mute%;}" -- sleep
        timed fuse "$pid" "$sxsprof" attach -o "$tmp/fuse.out"
        fuse=$pid
        mkdir "$run/8.0.29" && cp "$target_library" "$run/8.0.29" && target_library=$run/8.0.29/libcoreclr.so
        target unshare -m env "TMPDIR=$run" -- hidden "$tmp/mute"
        sleep 0.3
        timed staging "$pid" "$sxsprof" attach -o "$tmp/staging.out"
    }
    # A signal ends it, wherever it is.
    "$sxsprof" attach -o "$tmp/signal.out" "$fuse" >"$tmp/signal.log" 2>&1 &
    attacher=$!
    sleep 1.5
    began=$(date +%s%N)
    kill -INT $attacher
    wait $attacher
    status=$? ms=$((($(date +%s%N) - began) / 1000000))
    [ $status != 0 ] && [ $ms -le $((3000 + 50 * $(pressure))) ]
    check "SIGINT ends an attach to a process whose ports never answer ($ms ms)" $? "$tmp/signal.log"
    # shellcheck disable=SC2086 # PIDs
    wait $runners
    in_time fuse "sixteen ports on a file system that never answers cost one time limit"
    in_time staging "a /tmp on a file system that never answers does not hold the command"
    kill $server
else
    skip_fuse="this machine has no FUSE: $(head -n 1 "$tmp/fuse" 2>/dev/null)"
    n_test=$((n_test + 1))
    echo "ok $n_test - file systems that never answer # SKIP $skip_fuse"
fi
# shellcheck disable=SC2086 # PIDs
wait $runners
in_time many "sixteen ports that answer nothing cost one time limit"
in_time drip "a port that drips bytes does not hold the command"
in_time late "a runtime that never answers the attach does not hold the command"
finish
