# SPDX-License-Identifier: MIT
# Sampling while threads, plugins and children come and go: a short form of tests/soak/sampling.sh.
. "$(dirname "$0")/lib.sh"
need_real 3
for kind in cpu=997 wall=997,--no-preload cpu=997,walker=unwind; do
    KINDS=$kind MINUTES=0.01 SECONDS_EACH=3 timeout -k 5 120 bash tests/soak/sampling.sh >"$tmp/log" 2>&1
    status=$?
    check "four runtimes under stress, $kind: $(tail -n 1 "$tmp/log")" $status "$tmp/log"
done

# Children of a process without exceptions may use the loader, also when they were forked while the
# library looked at what is loaded.
timeout -k 5 90 "$sxsprof" run --quiet --tool sample:cpu=997 -o "$tmp/loader" -- "$runsxs" --timeout 80 \
    --churn "loads=100 forks=200 loader=1" 8 shares "alpha=100 seconds=3" >"$tmp/log" 2>&1
status=$?
check "forked children find the loader free: $(grep -o 'forks=[0-9]*' "$tmp/log")" $status "$tmp/log"
finish
