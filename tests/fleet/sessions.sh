#!/bin/sh
# SPDX-License-Identifier: MIT
# sessions.sh - records sessions of real runtimes 8, 9 and 10, the shapes of simulated services.
# usage: BUILD=build sessions.sh DIR [SECONDS]
set -u
dir=$1
seconds=${2:-6}
mkdir -p "$dir" || exit 1
record() { # NAME APP ARGUMENTS
    timeout -k 5 200 "$BUILD/sxsprof" run --quiet --tool sample:cpu=199 -o "$dir/$1" -- "$BUILD/runsxs" --timeout 180 \
        8 "$2" "$3" 9 "$2" "$3" 10 "$2" "$3" >"$dir.log" 2>&1 || { cat "$dir.log" >&2; exit 1; }
}
record shop stress "seconds=$seconds"
record search shares "alpha=40 beta=30 churn=100 seconds=$((seconds / 3 + 1))"
record mail memory "drop:small=3000000 drop:large=4000"
