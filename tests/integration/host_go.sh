# SPDX-License-Identifier: MIT
# host_go.sh - checks that a Go program can host a CLR through cgo.
# Goroutines cause faults, allocate and collect garbage while an app on the CLR does the same.
. "$(dirname "$0")/lib.sh"
need_real 3
host=$BUILD/hosts/go_faults # built by setup/hosts.sh
[ -x "$host" ] || skip_all "a Go program as host" "there is no Go compiler (golang-go)"
work="nre=200 div=100 gcs=30 loops=1 pool=100"
for how in "" --no-preload; do
    for v in 8 9 10; do
        good=0
        for _ in 1 2 3; do
            # shellcheck disable=SC2086
            timeout -k 5 60 "$sxsprof" run --quiet $how -- "$host" "$(echo "$BUILD"/runtimes/$v.*)" \
                "$BUILD/managed/stress/stress.dll" $work >"$tmp/log" 2>&1 && good=$((good + 1)) || cp "$tmp/log" "$tmp/bad"
        done
        [ $good -eq 3 ]
        check "a Go program that hosts $v ends with status 0, ${how:-preloaded}: $good of 3 runs" $? "$tmp/bad"
    done
done
finish
