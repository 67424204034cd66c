# SPDX-License-Identifier: MIT
# Hosts of one CLR whose coroutines' stacks are unmapped, or lose their access, while they are sampled.
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
        check "$how ${preload:-preloaded}: the host lives" $status "$tmp/log"
        "$sxsprof" report "$tmp/$how$preload" >"$tmp/text" 2>&1
        grep -qE '^  [1-9][0-9]* samples, ' "$tmp/text"
        check "$how ${preload:-preloaded}: it was sampled meanwhile" $? "$tmp/text"
    done
done

# A thread that only waits is looked at as well.
timeout -k 5 120 "$sxsprof" run --quiet --tool sample:wall=997 -o "$tmp/wall" -- \
    "$BUILD/hosts/gone_stacks" hand "$runtime" "$app" nre=100 seconds=1 >"$tmp/log" 2>&1
check "wall time: the host lives" $? "$tmp/log"

# Nothing recovers from faults here: each part of the stack is asked for.
SXSPROF_SIGNALS=off timeout -k 5 120 "$sxsprof" run --quiet --tool sample:cpu=997 -o "$tmp/off" -- \
    "$BUILD/hosts/gone_stacks" hand "$runtime" "$app" nre=100 seconds=1 >"$tmp/log" 2>&1
check "SXSPROF_SIGNALS=off: the host lives" $? "$tmp/log"
finish
