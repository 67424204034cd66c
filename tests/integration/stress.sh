# SPDX-License-Identifier: MIT
# stress.sh - runs four real runtimes in one process, two of them of the same version, several times.
# Each runtime has faults, divisions by zero, collections during a loop without safepoints, and thread pool
# work. This is a short form of `make soak`, which also runs a case that is not guaranteed to work: four
# runtimes that start at the same instant without preload.
. "$(dirname "$0")/lib.sh"
need_real 3
work="nre=100 div=100 gcs=20 loops=1 pool=100"
four="8 stress \"$work\" 9 stress \"$work\" $net10 stress \"$work\" 8 stress \"$work\""

times() { # n claim options-of-run options-of-runsxs
    good=0
    for i in $(seq "$1"); do
        eval "timeout -k 5 60 $sxsprof run --quiet $3 -- $runsxs $4 --timeout 50 $four" >"$tmp/log" 2>&1 &&
            good=$((good + 1)) || cp "$tmp/log" "$tmp/bad"
    done
    if [ $good -eq "$1" ]; then ok "$2: $good of $1"; else not_ok "$2: $good of $1" "$tmp/bad"; fi
}

times 8 "four runtimes that start at the same instant, preloaded" "" ""
times 5 "four runtimes that call coreclr_initialize in turn, without preload" "--no-preload" "--turns"
times 3 "four runtimes that run one after the other" "" "/st"

# The control: without the signal router the same run fails. One run may succeed by chance, but not five in a
# row.
lived=0
for _ in 1 2 3 4 5; do
    ( eval "timeout -k 5 30 $sxsprof run --quiet --signals off -- $runsxs --timeout 20 $four" ) >"$tmp/log" 2>&1 || break
    lived=$((lived + 1))
done
[ $lived -lt 5 ]
check "control: with SXSPROF_SIGNALS=off, which switches the signal router off, the same run fails" $?
finish
