# SPDX-License-Identifier: MIT
# hops.sh - checks the stack of three real runtimes that call each other 30 hops deep.
# The managed frames of the mixed stack, the managed stack, and the chain of calls that the apps made must be
# the same.
. "$(dirname "$0")/lib.sh"
need_real 3
timeout -k 5 60 "$sxsprof" run --quiet -- "$runsxs" --bridge --timeout 50 \
    8 hops "30 managed,mixed $tmp/h" 9 hops "30 managed,mixed $tmp/h" \
    $net10 hops "30 managed,mixed $tmp/h" >"$tmp/log" 2>&1
check "three runtimes call each other 30 hops deep" $? "$tmp/log"
python3 tests/integration/hops_compare.py "$tmp/h" >"$tmp/cmp" 2>&1
s=$?
cat "$tmp/cmp"
n_test=$(grep -c '^\(not \)\{0,1\}ok' "$tmp/cmp")
[ $s -eq 0 ] || any_failed=1
finish
