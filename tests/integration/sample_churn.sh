# SPDX-License-Identifier: MIT
# sample_churn.sh - samples while threads, plugins and children start and end.
# This is a short form of tests/soak/sampling.sh.
. "$(dirname "$0")/lib.sh"
need_real 3
for kind in cpu=997 wall=997,--no-preload cpu=997,walker=unwind; do
    KINDS=$kind MINUTES=0.01 SECONDS_EACH=2 timeout -k 5 120 bash tests/soak/sampling.sh >"$tmp/log" 2>&1
    status=$?
    check "four runtimes under stress, $kind: $(tail -n 1 "$tmp/log")" $status "$tmp/log"
done

# The process throws no exceptions. Its children must be able to use the dynamic loader, also a child that was
# forked while the library was reading the list of loaded files.
timeout -k 5 90 "$sxsprof" run --quiet --tool sample:cpu=997 -o "$tmp/loader" -- "$runsxs" --timeout 80 \
    --churn "loads=100 forks=100 loader=1" 8 shares "alpha=100 seconds=3" >"$tmp/log" 2>&1
status=$?
check "forked children can use the dynamic loader: $(grep -o 'forks=[0-9]*' "$tmp/log")" $status "$tmp/log"
finish
