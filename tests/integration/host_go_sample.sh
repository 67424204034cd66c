# SPDX-License-Identifier: MIT
# A Go program (cgo) as host of one CLR, sampled: Go preempts with SIGURG, and its goroutines' stacks have
# no room for a signal frame.
. "$(dirname "$0")/lib.sh"
need_real 1
command -v go >/dev/null || skip_all "a Go program as host" "needs go (setup/packages.sh readers)"
app=$PWD/$BUILD/managed/stress/stress.dll
export DOTNET_SYSTEM_GLOBALIZATION_INVARIANT=1
(cd tests/hosts/go_preempts && GOCACHE=$tmp/cache GOFLAGS=-mod=mod GOPROXY=off CGO_ENABLED=1 go build -o "$tmp/host" .) >"$tmp/log" 2>&1
check "the Go host is built" $? "$tmp/log"
[ -x "$tmp/host" ] || finish

for v in $versions; do
    for mode in cpu wall; do
        timeout -k 5 120 "$sxsprof" run --quiet --tool sample:$mode=997 -o "$tmp/$v$mode" -- \
            "$tmp/host" "$PWD/$BUILD/runtimes/$v" "$app" nre=200 seconds=1 >"$tmp/log" 2>&1
        status=$?
        grep -q '^go: churned 0, own signals arrive, status 0$' "$tmp/log" || status=99
        check "$v, $mode time at 997 Hz: the Go host lives and gets its own signals" $status "$tmp/log"
        "$sxsprof" report --format collapsed "$tmp/$v$mode" >"$tmp/collapsed" 2>&1
        grep -q 'main\.deep\|main\.churn\|runtime\.' "$tmp/collapsed" && grep -q 'Stress\.' "$tmp/collapsed"
        check "$v, $mode time: both Go's functions and managed ones were sampled" $? "$tmp/collapsed"
    done
done
finish
