#!/bin/sh
# SPDX-License-Identifier: MIT
# soak.sh - checks four real runtimes in one process (8, 9, 10, and one version twice) many times; then 16,
# and 32.
#
# Each app causes NullReferenceExceptions and divisions by zero, collects garbage while a thread loops
# without safepoints, and uses the thread pool. Before every tenth run there is an additional run in which one
# app crashes by a native fault. This control checks that an unhandled signal still ends the process
# with that signal.
#
# Then: detach through a debugger (tests/soak/detach.sh), 500 edits of an instrumentation file
# (tests/soak/edits.sh), and attaching to programs under load (tests/soak/attach.sh), and sampling under stress (tests/soak/sampling.sh, which can also be run directly:
# MINUTES=30 bash tests/soak/sampling.sh).
#
# RUNS       runs of each kind with the router (200)
# OFF_RUNS   runs of the control without the router (20)
# MANY_RUNS  runs of 16 and of 32 runtimes (5)
# ONLY       run only these parts of: four many detach attach edits sampling; and, by its name only, keep: an hour of
#            continuous mode (tests/soak/keep.sh; DURATION=3600); and hostile: ten million inputs of each fuzz driver, and
#            the tests of tests/hostile/ in a loop (tests/soak/hostile.sh; N_FUZZ=10000000, ROUNDS=20)
set -u
cd "$(dirname "$0")/.." || exit 1
: "${BUILD:=build}" "${RUNS:=200}" "${OFF_RUNS:=20}" "${MANY_RUNS:=5}" "${ONLY:=four many detach attach edits sampling}"
unset SXSPROF_PICK SXSPROF_UNPICKED SXSPROF_TOOLS SXSPROF_OUT SXSPROF_SIGNALS
work="nre=300 div=300 gcs=40 loops=1 pool=300"
log=$(mktemp "${TMPDIR:-/tmp}/sxsprof-soak.XXXXXX") || exit 1
keep=$BUILD/soak-failures
trap 'rm -f "$log"' EXIT
trap 'exit 130' INT TERM
ulimit -S -c 0
net10=$(awk -F'\t' '$1 == "runtime" && index($2, "10.") == 1 { print $2; exit }' setup/versions.tsv)
[ -e "$BUILD/runtimes/$net10/libcoreclr.so" ] || { echo "soak: needs the real runtimes (no .NET SDK here?)"; exit 1; }

# Runs one kind many times. Arguments: kind, number of runs, options of sxsprof run, options of
# runsxs, time limit in seconds.
series() {
    good=0 controls=0 controls_good=0 died=0 hung=0 n=0
    began=$(date +%s)
    while [ $n -lt "$2" ]; do
        n=$((n + 1))
        if [ $((n % 10)) -eq 0 ] && [ "$1" != off ]; then
            controls=$((controls + 1))
            # shellcheck disable=SC2086
            timeout -k 5 90 "$BUILD/sxsprof" run --quiet $3 -- "$BUILD/runsxs" $4 --timeout 60 \
                8 stress "$work" 9 stress "$work" $net10 crash segv 8 stress "$work" >"$log" 2>&1
            [ $? -eq 139 ] && controls_good=$((controls_good + 1)) || { mkdir -p "$keep"; cp "$log" "$keep/$1.$n"; }
        fi
        # shellcheck disable=SC2086
        timeout -k 5 90 "$BUILD/sxsprof" run --quiet $3 -- "$BUILD/runsxs" $4 --timeout "$5" \
            8 stress "$work" 9 stress "$work" $net10 stress "$work" 8 stress "$work" >"$log" 2>&1
        status=$?
        case $status in
        0) good=$((good + 1)) ;;
        124) hung=$((hung + 1)) ;;
        *) died=$((died + 1)) ;;
        esac
        if [ $status -ne 0 ] && [ "$1" != off ]; then mkdir -p "$keep"; cp "$log" "$keep/$1.$n"; fi
        [ -t 1 ] && printf '\r%-28s %d of %d well' "$1" $good $n
    done 2>/dev/null
    [ -t 1 ] && printf '\r'
    printf '%-28s %d of %d ended well, %d hung, %d died' "$1" $good "$2" $hung $died
    [ $controls -gt 0 ] && printf '; crash control: %d of %d died of SIGSEGV' $controls_good $controls
    printf '; %d s\n' $(($(date +%s) - began))
    [ "$1" = off ] || [ $good -eq "$2" ] && [ $controls_good -eq $controls ]
}

# many N: runs N runtimes of three versions at once, MANY_RUNS times. Checks that each runtime is in
# the report and did its work.
many() {
    n=$1 good=0 run=0
    began=$(date +%s)
    out=$(mktemp -d "${TMPDIR:-/tmp}/sxsprof-soak.XXXXXX") || return 1
    set --
    for i in $(seq "$n"); do
        case $((i % 3)) in 0) set -- "$@" 8 ;; 1) set -- "$@" 9 ;; 2) set -- "$@" $net10 ;; esac
        set -- "$@" stress "nre=100 div=100 gcs=10 pool=50"
    done
    while [ $run -lt "$MANY_RUNS" ]; do
        run=$((run + 1))
        timeout -k 5 600 "$BUILD/sxsprof" run --quiet -o "$out/$run" -- "$BUILD/runsxs" --timeout 590 "$@" >"$log" 2>&1 &&
            [ "$(grep -c ' stress result=0 ' "$log")" -eq "$n" ] &&
            [ "$("$BUILD/sxsprof" report "$out/$run" | grep -c ' picked ')" -eq "$n" ] && good=$((good + 1)) ||
            { mkdir -p "$keep"; cp "$log" "$keep/many-$n.$run"; }
    done
    rm -rf "$out"
    printf '%-28s %d of %d ended well; %d s\n' "$n runtimes at once" $good "$MANY_RUNS" $(($(date +%s) - began))
    [ $good -eq "$MANY_RUNS" ]
}

wanted() { case " $ONLY " in *" $1 "*) ;; *) return 1 ;; esac; }

bad=0
if wanted four; then
    series "preload, same instant" "$RUNS" "" "" 60 || bad=1
    series "no preload, --turns" "$RUNS" "--no-preload" "--turns" 60 || bad=1
    series "no preload, same instant" "$RUNS" "--no-preload" "" 60 || true # some of these may fail
    series off "$OFF_RUNS" "--signals off" "" 10
fi
if wanted many; then
    many 16 || bad=1
    many 32 || bad=1
fi
if wanted detach; then
    if command -v gdb >/dev/null; then
        TESTS= bash tests/soak/detach.sh || bad=1
    else
        echo "detach: left out, no gdb here"
    fi
fi
if wanted attach; then bash tests/soak/attach.sh || bad=1; fi
if wanted edits; then bash tests/soak/edits.sh || bad=1; fi
if wanted sampling; then bash tests/soak/sampling.sh || bad=1; fi
if wanted keep; then bash tests/soak/keep.sh || bad=1; fi
if wanted hostile; then bash tests/soak/hostile.sh || bad=1; fi
exit $bad
