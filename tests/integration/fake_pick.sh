# SPDX-License-Identifier: MIT
# fake_pick.sh - checks which of several simulated runtimes are profiled (--pick, --unpicked).
# Runs versions from 2.0 to 10.0 with all combinations of pick, unpicked, order of start, and preload.
. "$(dirname "$0")/lib.sh"
work='!modules 2; jit 3; threads 1; gc 2; signal-faults 6; throw 1; join'
# The preloaded mmap bypasses the mmap of the thread sanitizer, which then takes newly mapped memory for old.
default_preload=$([ "$SAN" = thread ] && echo --no-preload)
versions="3.1 5.0 6.0 7.0 8.0 9.0 10.0"
n_versions=7

run_case() { # PICK UNPICKED ORDER PRELOAD VERSIONS
    dir=$tmp/out
    rm -rf "$dir"
    apps=()
    for v in $5; do apps+=("fake:$v" "$work" ""); done
    # shellcheck disable=SC2086
    timeout -k 5 120 "$sxsprof" run --pick "$1" --unpicked "$2" ${4:-$default_preload} -o "$dir" -- "$runsxs" $3 \
        --timeout 100 "${apps[@]}" >"$tmp/log" 2>&1
    status=$?
    "$sxsprof" report --format json "$dir" >"$tmp/json" 2>>"$tmp/log" || status=99
}

expect() { # CLAIM EXPRESSION
    if [ $status -eq 0 ] && [ "$(jsonq "$tmp/json" "$2" 2>>"$tmp/log")" = True ]; then ok "$1"
    else cat "$tmp/json" >>"$tmp/log"; not_ok "$1 (status $status)" "$tmp/log"; fi
}

counted='x["modules"]>=2 and x["methods"]>=3 and x["gcs"]==2 and x["exceptions_thrown"]==1'
for order in /st ""; do for preload in "" --no-preload; do for unpicked in guard cancel; do
    [ -z "$preload" ] && [ "$SAN" = thread ] && continue
    how="$unpicked, ${order:+one after the other}${order:-at once}, ${preload:+without }preload"
    how=$(echo "$how" | sed 's,one after the other/st,one after the other,')
    left=$([ $unpicked = guard ] && echo guarded || echo cancelled)
    # Without the preload, signals of runtimes that start at the same instant or are cancelled are not
    # protected. These cases run without signals.
    if [ -n "$preload" ] && { [ -z "$order" ] || [ $unpicked = cancel ]; }; then export FAKECLR_SIGNALS=off
    else unset FAKECLR_SIGNALS; fi
    # The thread sanitizer hides the signal actions that the kernel has.
    [ "$SAN" = thread ] && export FAKECLR_SIGNALS=off
    run_case all $unpicked "$order" "$preload" "$versions"
    expect "all, $how: all seven runtimes are picked and their events are counted" \
        "len(r)==$n_versions and all(x['state']=='picked' and $counted for x in r)"
    run_case first $unpicked "$order" "$preload" "$versions"
    expect "first, $how: exactly one runtime is picked, six are $left" \
        "sorted(x['state'] for x in r)==sorted(['picked']+['$left']*6)"
    run_case one:9 $unpicked "$order" "$preload" "$versions"
    expect "one:9, $how: 9.0 is picked and its events are counted, the others are $left and not counted" \
        "len(r)==$n_versions and all((x['state']=='picked' and $counted) if x['version'].startswith('9.') else (x['state']=='$left' and x['methods']==0) for x in r)"
done; done; done
[ "$SAN" = thread ] || unset FAKECLR_SIGNALS

run_case first guard /st "" "$versions"
expect "first, one after the other: the runtime that started first is picked" \
    "[x['version'] for x in r if x['state']=='picked']==['3.1.0']"
run_case "one:$(realpath "$BUILD")/fakeclr/8.0/libcoreclr.so" guard "" "" "$versions"
expect "one:PATH picks the runtime loaded from that file" \
    "[x['version'] for x in r if x['state']=='picked']==['8.0.0']"
run_case one:7.7 guard "" "" "$versions"
expect "one:VERSION with a version that no runtime has: none is picked, all are guarded" \
    "[x['state'] for x in r]==['guarded']*$n_versions"
run_case one:8 guard "" "" "8.0 8.0 9.0"
expect "one:8 with two runtimes 8.0: both are picked" \
    "sorted((x['version'],x['state']) for x in r)==[('8.0.0','picked'),('8.0.0','picked'),('9.0.0','guarded')]"

# Runtimes of .NET Framework read the COR_ variables. The command does not set them, so this test does.
clsid=$(sed -n 's/^#define SXSPROF_CLSID "\(.*\)"/\1/p' include/sxsprof.h)
library=$BUILD/libsxsprof.so
case $library in /*) ;; *) library=$PWD/$library ;; esac
framework() { # PICK
    dir=$tmp/out
    rm -rf "$dir"
    env COR_ENABLE_PROFILING=1 COR_PROFILER="$clsid" COR_PROFILER_PATH="$library" \
        CORECLR_ENABLE_PROFILING=1 CORECLR_PROFILER="$clsid" CORECLR_PROFILER_PATH="$library" \
        SXSPROF_OUT="$dir" SXSPROF_PICK="$1" timeout -k 5 60 "$runsxs" /st --timeout 50 \
        fake:2.0 '!modules 2; jit 3; gc 2; throw 1' "" fake:4.0 '!modules 2; jit 3; gc 2; throw 1' "" \
        fake:8.0 '!modules 2; jit 3; gc 2; throw 1' "" >"$tmp/log" 2>&1
    status=$?
    "$sxsprof" report --format json "$dir" >"$tmp/json" 2>>"$tmp/log" || status=99
}
framework all
expect "2.0, 4.0 and 8.0, each by its own variables: all are picked and their events are counted" \
    "[x['version'] for x in r]==['2.0','4.0.30319','8.0.0'] and all(x['state']=='picked' and $counted for x in r)"
framework one:2
expect "one:2 picks the runtime that cannot report its version" \
    "[x['version'] for x in r if x['state']=='picked']==['2.0']"
framework one:4.0
expect "one:4.0 picks 4.0" "[x['version'] for x in r if x['state']=='picked']==['4.0.30319']"
# .NET Core up to 3.1 says the version of .NET Framework.
mkdir "$tmp/3.1.3" && cp "$BUILD/fakeclr/4.0/libcoreclr.so" "$tmp/3.1.3/"
dir=$tmp/core
env COR_ENABLE_PROFILING=1 COR_PROFILER="$clsid" COR_PROFILER_PATH="$library" SXSPROF_OUT="$dir" SXSPROF_PICK=one:3.1 \
    timeout -k 5 60 "$runsxs" --timeout 50 "$tmp/3.1.3" '!modules 2; jit 3' "" >"$tmp/log" 2>&1
status=$?
"$sxsprof" report --format json "$dir" >"$tmp/json" 2>>"$tmp/log" || status=99
expect "a runtime that says 4.0.30319 has the version of its folder" "[(x['version'], x['state']) for x in r]==[('3.1.3', 'picked')]"
finish
