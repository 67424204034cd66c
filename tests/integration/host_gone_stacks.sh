# SPDX-License-Identifier: MIT
# host_gone_stacks.sh - checks that hosts can be sampled while stacks of their coroutines are unmapped or lose
# their access rights.
. "$(dirname "$0")/lib.sh"
need_real 1
v=$(echo "$versions" | sed -n 2p)
[ -n "$v" ] || v=$(echo "$versions" | head -n 1)
runtime=$PWD/$BUILD/runtimes/$v
app=$PWD/$BUILD/managed/stress/stress.dll
export DOTNET_SYSTEM_GLOBALIZATION_INVARIANT=1

for how in hand guard context; do
    for preload in "" --no-preload; do
        # shellcheck disable=SC2086
        timeout -k 5 120 "$sxsprof" run --quiet $preload --tool sample:cpu=997 -o "$tmp/$how$preload" -- \
            "$BUILD/hosts/gone_stacks" $how "$runtime" "$app" nre=100 seconds=1 >"$tmp/log" 2>&1
        status=$?
        grep -q '^coroutines: rounds done, status 0$' "$tmp/log" || status=99
        check "gone_stacks $how ${preload:-preloaded}: the host ends with status 0" $status "$tmp/log"
        "$sxsprof" report "$tmp/$how$preload" >"$tmp/text" 2>&1
        grep -qE '^  [1-9][0-9]* samples, ' "$tmp/text"
        check "gone_stacks $how ${preload:-preloaded}: the host was sampled" $? "$tmp/text"
    done
done

# With wall time, waiting threads are sampled as well.
timeout -k 5 120 "$sxsprof" run --quiet --tool sample:wall=997 -o "$tmp/wall" -- \
    "$BUILD/hosts/gone_stacks" hand "$runtime" "$app" nre=100 seconds=1 >"$tmp/log" 2>&1
check "wall time: the host ends with status 0" $? "$tmp/log"

# With signals off the library cannot recover from faults, so the walk copies each part of the stack by
# process_vm_readv. Without NullReferenceExceptions: a sample during one of them may end the process then, and
# the library says so.
SXSPROF_SIGNALS=off timeout -k 5 120 "$sxsprof" run --quiet --tool sample:cpu=997 -o "$tmp/off" -- \
    "$BUILD/hosts/gone_stacks" hand "$runtime" "$app" nre=0 seconds=1 >"$tmp/log" 2>&1
check "SXSPROF_SIGNALS=off: the host ends with status 0" $? "$tmp/log"
[ "$(grep -c 'SXSPROF_SIGNALS=off: .*NullReferenceException may end the process' "$tmp/log")" -eq 1 ]
check "SXSPROF_SIGNALS=off: one line says what samples may do then" $? "$tmp/log"
finish
