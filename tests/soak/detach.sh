# SPDX-License-Identifier: MIT
# detach.sh - checks that the library detaches from one of three real runtimes under load.
# A debugger calls RequestProfilerDetach on the Info of the first runtime. That runtime must detach, the
# others must stay profiled, and all must end well. The debugger must not stop at faults and activation
# signals, because a stop in the middle of its call would kill the process.
. "$(dirname "$0")/../integration/lib.sh"
need_real 3
command -v gdb >/dev/null || skip_all "detach" "needs gdb to call RequestProfilerDetach"
work="nre=100 div=100 gcs=20 loops=1 pool=100 seconds=6"
cat >"$tmp/gdb" <<'E2'
set pagination off
set confirm off
handle all nostop noprint pass
handle SIGTRAP stop noprint nopass
set $rt = manager.live[0]
set $info = $rt->info
print ((int (*)(void *, unsigned))$info->vtbl->RequestProfilerDetach)($info, 2000)
detach
E2
for preload in "" --no-preload; do
    dir=$tmp/out$preload
    # shellcheck disable=SC2086
    "$sxsprof" run --quiet $preload -o "$dir" -- "$runsxs" --turns --timeout 50 8 stress "$work" \
        9 stress "$work" $net10 stress "$work" >"$tmp/log" 2>&1 &
    run=$!
    sleep 2
    pid=$(pgrep -P $run -x runsxs)
    timeout 60 gdb -batch -p "$pid" -x "$tmp/gdb" >"$tmp/gdb.log" 2>&1
    wait $run
    status=$?
    "$sxsprof" report --format json "$dir" >"$tmp/json"
    cat "$tmp/gdb.log" "$tmp/json" >>"$tmp/log"
    if grep -q '= 0$' "$tmp/gdb.log" && [ $status -eq 0 ] &&
        [ "$(jsonq "$tmp/json" 'len(r)==3 and r[0]["gcs"]<r[1]["gcs"] and r[0]["signals"]>100')" = True ]; then
        ok "the first of three runtimes detaches under load, ${preload:-preloaded}, and all end well"
    else
        not_ok "detach ${preload:-preloaded}: status $status" "$tmp/log"
    fi
done
finish
