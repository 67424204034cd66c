# SPDX-License-Identifier: MIT
# A host that forks without exec while three runtimes throw, collect and compile: no child hangs, with any tool.
. "$(dirname "$0")/lib.sh"
need_real 3

forks() { # claim tools
    rm -rf "$tmp/s"
    # shellcheck disable=SC2086
    timeout -k 5 200 "$sxsprof" run --quiet $2 -o "$tmp/s" -- "$runsxs" --timeout 180 --churn "forks=500" \
        8 stress "gcs=100 nre=1000" 9 stress "gcs=100 nre=1000" 10.0.11 stress "gcs=100 nre=1000" >"$tmp/log" 2>&1
    status=$?
    check "children of a host live, $1: $(grep -o 'forks=[0-9]*' "$tmp/log")" $status "$tmp/log"
}
forks "the library alone" ""
forks "samples" "--tool sample:cpu=997"
forks "calls" "--tool calls:tree"
forks "exceptions and events" "--tool exceptions --tool events"
forks "all of them" "--tool sample:wall=99 --tool calls:trace --tool exceptions --tool events"
finish
