#!/bin/sh
# SPDX-License-Identifier: MIT
# loop.sh - repeats the tests on simulated runtimes and the tests for races.
# Stops at the first round that fails.
#
# N  number of rounds (20)   BUILD, SAN  as for tests/run.sh
set -u
cd "$(dirname "$0")/.." || exit 1
: "${N:=20}" "${BUILD:=build}" "${SAN:=}"
export BUILD SAN
log=$(mktemp "${TMPDIR:-/tmp}/sxsprof-loop.XXXXXX") || exit 1
trap 'rm -f "$log"' EXIT
trap 'exit 130' INT TERM
round=0
while [ "$round" -lt "$N" ]; do
    round=$((round + 1))
    for t in test_ranges test_manager test_tools test_router test_session test_fakeclr fake_signals; do
        if ! TESTS=$t sh tests/run.sh >"$log" 2>&1; then
            cat "$log"
            echo "round $round of $N failed in $t"
            exit 1
        fi
    done
    echo "round $round of $N passed"
done
