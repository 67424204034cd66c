#!/bin/sh
# SPDX-License-Identifier: MIT
# demo.sh - shows three CLRs in one process that call each other, profiled by one library.
set -u
cd "$(dirname "$0")/.." || exit 1
: "${BUILD:=build}"
dir=$(mktemp -d "${TMPDIR:-/tmp}/sxsprof-demo.XXXXXX") || exit 1
trap 'rm -rf "$dir"' EXIT
trap 'exit 130' INT TERM
unset SXSPROF_PICK SXSPROF_UNPICKED SXSPROF_TOOLS SXSPROF_OUT SXSPROF_SIGNALS

runtimes=$(for v in "$BUILD"/runtimes/*/; do [ -e "$v/libcoreclr.so" ] && basename "$v"; done | sort -V | head -n 3)
work="nre=200 div=100 gcs=50 loops=1 pool=200"

show() {
    awk -F'\t' '/^#/ { print; next } { printf "%4s  %-14s  %-26s %s\n", $1, $3, $4, $5 }' "$1" | cut -c1-150
}

if [ "$(echo "$runtimes" | grep -c .)" -lt 3 ] || [ ! -e "$BUILD/managed/hops/hops.dll" ]; then
    echo "== Three simulated runtimes in one process (no .NET SDK here: the real ones are left out)"
    echo "== 1. They call each other, two hops deep; the stack at the bottom, youngest frame first:"
    echo
    "$BUILD/sxsprof" run --quiet -- "$BUILD/runsxs" --bridge --timeout 60 fake:8.0 "!hops 2 $dir/stack" "" \
        fake:9.0 "!hops 0" "" fake:10.0 "!hops 0" "" >"$dir/log" 2>&1 ||
        { cat "$dir/log"; echo "the hops did not end well"; exit 1; }
    show "$dir/stack.mixed"
    echo
    echo "== 2. All three work at once: faults, collections, exceptions, threads."
    echo
    for v in 8.0 9.0 10.0; do
        set -- "$@" "fake:$v" "!modules 12; threads 4; jit 200; gc 5; throw 20; signal-faults 50" ""
    done
    "$BUILD/sxsprof" run -- "$BUILD/runsxs" "$@"
    exit
fi

echo "== Three CLRs in one process: $(echo $runtimes)"
echo "== 1. They call each other, four hops deep; the stack at the bottom, youngest frame first:"
echo
set --
for v in $runtimes; do set -- "$@" "$v" hops "4 mixed $dir/stack"; done
"$BUILD/sxsprof" run --quiet -- "$BUILD/runsxs" --bridge --timeout 60 "$@" >"$dir/log" 2>&1 ||
    { cat "$dir/log"; echo "the hops did not end well"; exit 1; }
show "$dir/stack.mixed"
echo
echo "== 2. All three work at once: NullReferenceExceptions, divisions by zero, thread pool, and"
echo "      collections against a loop without safepoints. Without sxsprof this process dies."
echo
set --
for v in $runtimes; do set -- "$@" "$v" stress "$work"; done
"$BUILD/sxsprof" run -o "$dir/session" -- "$BUILD/runsxs" --timeout 60 "$@" || exit 1
echo
echo "== 3. Where the time goes: the same work, sampled 499 times a second and CPU."
echo
set --
for v in $runtimes; do set -- "$@" "$v" stress "nre=100 div=100 gcs=20 loops=1 pool=100 seconds=2"; done
"$BUILD/sxsprof" run --quiet --tool sample:cpu=499 -o "$dir/samples" -- "$BUILD/runsxs" --timeout 60 "$@" \
    >"$dir/log" 2>&1 || { cat "$dir/log"; echo "the sampled run did not end well"; exit 1; }
"$BUILD/sxsprof" report "$dir/samples" 2>/dev/null | sed -n '/^shares/,/^$/p'
"$BUILD/sxsprof" report --format html -o "$BUILD/demo.html" "$dir/samples" 2>/dev/null || exit 1
set --
for v in $runtimes; do set -- "$@" "$v" stress "$work"; done
echo "== The same as in 2. without the signal router (SXSPROF_SIGNALS=off), for comparison:"
( ulimit -S -c 0; "$BUILD/sxsprof" run --quiet --signals off -- "$BUILD/runsxs" --timeout 5 "$@" >"$dir/log" 2>&1 ) 2>/dev/null
status=$?
case $status in
0) echo "it ended well this time" ;;
124) grep -c 'result=timeout' "$dir/log" | sed 's/$/ of 3 runtimes were still waiting for a collection after 5 s/' ;;
*) [ $status -gt 128 ] && echo "it died of signal $((status - 128)) ($(kill -l $((status - 128))))" || echo "it ended with status $status" ;;
esac
echo
echo "Flame graph of the three runtimes, to be opened in a browser: $BUILD/demo.html"
echo "Try it on your own program:  $BUILD/sxsprof sample -o app.html -- COMMAND"
