# SPDX-License-Identifier: MIT
# host_go_sample.sh - checks that a Go program that hosts one CLR through cgo can be sampled.
# Go preempts goroutines with SIGURG, and the stacks of goroutines have no room for a signal frame.
. "$(dirname "$0")/lib.sh"
need_real 1
host=$BUILD/hosts/go_preempts # built by setup/hosts.sh
[ -x "$host" ] || skip_all "a Go program as host" "there is no Go compiler (golang-go)"
app=$PWD/$BUILD/managed/stress/stress.dll
export DOTNET_SYSTEM_GLOBALIZATION_INVARIANT=1
for v in $versions; do
    for mode in cpu wall; do
        timeout -k 5 120 "$sxsprof" run --quiet --tool sample:$mode=997 -o "$tmp/$v$mode" -- \
            "$host" "$PWD/$BUILD/runtimes/$v" "$app" nre=200 seconds=1 >"$tmp/log" 2>&1
        status=$?
        grep -q '^go: churned 0, own signals arrive, status 0$' "$tmp/log" || status=99
        check "$v, $mode time at 997 Hz: the Go host ends with status 0 and receives its own signals" $status "$tmp/log"
        "$sxsprof" report --format collapsed "$tmp/$v$mode" >"$tmp/collapsed" 2>"$tmp/log"
        grep -q 'main\.deep\|main\.churn\|runtime\.' "$tmp/collapsed" && grep -q 'Stress\.' "$tmp/collapsed"
        check "$v, $mode time: samples have functions of Go and managed functions" $? "$tmp/collapsed"
    done
done
finish
