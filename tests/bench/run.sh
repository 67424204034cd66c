#!/bin/sh
# SPDX-License-Identifier: MIT
# run.sh - `make bench`: builds the native benchmarks, measures, rewrites the tables of docs/internals/bench.md.
# docs/internals/bench.md says what is measured and how. No result of a measurement fails this script.
#
# BUILD  folder of the build    CC  compiler    QUICK=1  a few rounds, docs/ is not changed
# PART=library, sampling, web, hooks, il, rewrite, guests, clrie, memory, native_memory, locks, heap or keep: measures
# only that part
# CLRIE_LIBRARY=PATH  with PART=clrie: another engine with the same interfaces, measured beside this one
set -eu
cd "$(dirname "$0")/../.."
: "${BUILD:=build}" "${CC:=cc}"
flags="-std=gnu11 -O2 -g -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wcast-qual
       -Wvla -fvisibility=hidden -D_GNU_SOURCE -I. -I$BUILD/gen"

for needed in libsxsprof.so libsxsprof-preload.so sxsprof runsxs fakeclr/9.0/libcoreclr.so \
    bench/bench_walk bench/bench_clock bench/bench_hooks bench/bench_il bench/bench_graph clrie/libcost.so; do
    [ -e "$BUILD/$needed" ] || { echo "bench: $BUILD/$needed is not there; run make bench" >&2; exit 1; }
done
mkdir -p "$BUILD/bench"
# shellcheck disable=SC2086 # flags are several words
build() { out=$1; shift; "$CC" $flags "$@" -o "$BUILD/bench/$out" -ldl -lpthread; }
build bench_callback -rdynamic tests/bench/bench_callback.c
build bench_signal tests/bench/bench_signal.c
build libbenchnative.so -shared -fPIC tests/bench/bench_native.c
build libbare.so -shared -fPIC tests/bench/bare_profiler.c tests/bench/bare_hooks.c tests/bench/bare_insert.c "$BUILD/gen/sxs_abi.c"
cp "$BUILD/bench/libbare.so" "$BUILD/bench/libunwilling.so"

exec python3 -B tests/bench/bench.py "$BUILD" docs/internals/bench.md
