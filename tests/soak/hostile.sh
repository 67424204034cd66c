# SPDX-License-Identifier: MIT
# hostile.sh - runs the fuzz drivers of everything that strangers can send with many inputs, and the attackers of
# tests/hostile/ in a loop. Part of tests/soak.sh by its name.
#
# N_FUZZ   inputs of each driver (10,000,000: about two hours on one processor)
# ROUNDS   runs of the suite (20)
# BUILD    build folder; one of a build with SAN=address,undefined finds more
set -u
cd "$(dirname "$0")/../.." || exit 1
: "${BUILD:=build}" "${N_FUZZ:=10000000}" "${ROUNDS:=20}"
log=$(mktemp "${TMPDIR:-/tmp}/sxsprof-soak.XXXXXX") || exit 1
trap 'rm -f "$log"' EXIT
trap 'exit 130' INT TERM
bad=0
for driver in answer diagnostics proc names elf message pack serve; do
    began=$(date +%s)
    if "$BUILD/tests/fuzz_$driver" -n "$N_FUZZ" -s "$began" >"$log" 2>&1; then
        sed "s/^ok - //; s/\$/; seed $began; $(($(date +%s) - began)) s/" "$log"
    else
        bad=1
        printf 'fuzz_%s failed with seed %s:\n' "$driver" "$began"
        cat "$log"
    fi
done
good=0 round=0
while [ $round -lt "$ROUNDS" ]; do
    round=$((round + 1))
    if TESTS=tests/hostile BUILD=$BUILD sh tests/run.sh >"$log" 2>&1; then
        good=$((good + 1))
    else
        bad=1
        grep -A20 '^not ok' "$log"
    fi
done
echo "attackers                    $good of $ROUNDS rounds ended well"
exit $bad
