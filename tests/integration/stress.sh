# SPDX-License-Identifier: MIT
# Four real runtimes in one process, one version twice, each with faults, divisions by zero,
# collections against a loop without safepoints, thread pool. A short form of `make soak`, which also has what nobody
# promises: four at the same instant without preload.
. "$(dirname "$0")/lib.sh"
need_real 3
work="nre=100 div=100 gcs=20 loops=1 pool=100"
four="8 stress \"$work\" 9 stress \"$work\" 10.0.11 stress \"$work\" 8 stress \"$work\""

times() { # n claim options-of-run options-of-runsxs
    good=0
    for i in $(seq "$1"); do
        eval "timeout -k 5 60 $sxsprof run --quiet $3 -- $runsxs $4 --timeout 50 $four" >"$tmp/log" 2>&1 &&
            good=$((good + 1)) || cp "$tmp/log" "$tmp/bad"
    done
    if [ $good -eq "$1" ]; then ok "$2: $good of $1"; else not_ok "$2: $good of $1" "$tmp/bad"; fi
}

times 8 "four at the same instant, preloaded" "" ""
times 5 "four taking turns in coreclr_initialize, without preload" "--no-preload" "--turns"
times 3 "four one after the other" "" "/st"

# The control: without the router the same process does not live. It may by chance: five times in a row is none.
lived=0
for _ in 1 2 3 4 5; do
    ( eval "timeout -k 5 30 $sxsprof run --quiet --signals off -- $runsxs --timeout 20 $four" ) >"$tmp/log" 2>&1 || break
    lived=$((lived + 1))
done
[ $lived -lt 5 ]
check "with SXSPROF_SIGNALS=off the same run fails: the control" $?
finish
