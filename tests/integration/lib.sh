# SPDX-License-Identifier: MIT
# lib.sh - functions that all integration tests share: TAP results, waiting, and real runtimes.
set -u
cd "$(dirname "$0")/../.." || exit 1
: "${BUILD:=build}" "${SAN:=}"
sxsprof=$BUILD/sxsprof
runsxs=$BUILD/runsxs
tmp=$(mktemp -d "${TMPDIR:-/tmp}/sxsprof-test.XXXXXX") || exit 1
trap 'rm -rf "$tmp"' EXIT
n_test=0
any_failed=0
unset SXSPROF_LOG SXSPROF_PICK SXSPROF_UNPICKED SXSPROF_TOOLS SXSPROF_OUT SXSPROF_SIGNALS
unset CORECLR_ENABLE_PROFILING CORECLR_PROFILER CORECLR_PROFILER_PATH LD_PRELOAD
ulimit -S -c 0

ok() { n_test=$((n_test + 1)); echo "ok $n_test - $1"; }
not_ok() { # claim [file to show]
    n_test=$((n_test + 1)); any_failed=1
    echo "not ok $n_test - $1"
    [ -n "${2:-}" ] && [ -e "$2" ] && sed 's/^/# /' "$2" | tail -n 30
    return 0
}
check() { # claim status-of-last-command [file to show]
    if [ "$2" -eq 0 ]; then ok "$1"; else not_ok "$1 (status $2)" "${3:-}"; fi
}
# wait_until COMMAND...: run COMMAND ten times a second until it succeeds; fail after three minutes. Even on a
# busy machine, COMMAND succeeds long before the limit, or never.
wait_until() {
    local n
    for n in $(seq 1800); do
        "$@" && return
        sleep 0.1
    done
    return 1
}
# runtime_version MAJOR: print the whole version of this runtime in setup/versions.tsv. Tests name .NET 10 so, because
# "10" could be a runtime of the SDK, whose version is higher.
runtime_version() { awk -F'\t' -v major="$1." '$1 == "runtime" && index($2, major) == 1 { print $2; exit }' setup/versions.tsv; }
net10=$(runtime_version 10)
skip_all() { echo "ok 1 - $1 # SKIP $2"; exit 0; }

# Print the versions of the real runtimes in $BUILD/runtimes, in ascending order. A build with sanitizers has
# none, because real runtimes are not run under sanitizers.
real_versions() {
    [ -n "$SAN" ] && return
    for v in "$BUILD"/runtimes/*/; do
        [ -e "$v/libcoreclr.so" ] && basename "$v"
    done | sort -V
}
need_real() { # N: skip the whole script unless there are N real runtimes and the managed apps
    [ -n "$SAN" ] && skip_all "$0" "real runtimes are not run under sanitizers"
    versions=$(real_versions)
    [ "$(echo "$versions" | grep -c .)" -ge "$1" ] ||
        skip_all "$0" "needs $1 real runtimes in $BUILD/runtimes (no .NET SDK here?)"
    [ -e "$BUILD/managed/stress/stress.dll" ] || skip_all "$0" "the managed apps are not built"
}
# jsonq FILE EXPRESSION: print the value of a Python expression; r is the list of runtimes in the JSON report
# FILE.
jsonq() { python3 -c 'import json,sys; r=json.load(open(sys.argv[1]))["runtimes"]; print(eval(sys.argv[2]))' "$1" "$2"; }
# first_lines FILE: print the first lines of a text report, which say what was recorded and what is missing. How many
# there are depends on the run.
first_lines() { sed '/^$/Q' "$1"; }
finish() { exit $any_failed; }
