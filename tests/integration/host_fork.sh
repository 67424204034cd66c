# SPDX-License-Identifier: MIT
# host_fork.sh - checks that children of a host that forks without exec do not hang, with any tool.
# The host forks, 150 times SCALE, while three runtimes throw, collect and compile.
. "$(dirname "$0")/lib.sh"
need_real 3

forks() { # CLAIM TOOLS
    rm -rf "$tmp/s"
    # shellcheck disable=SC2086
    timeout -k 5 200 "$sxsprof" run --quiet $2 -o "$tmp/s" -- "$runsxs" --timeout 180 --churn "forks=$((150 * ${SCALE:-1}))" \
        8 stress "gcs=100 nre=1000" 9 stress "gcs=100 nre=1000" $net10 stress "gcs=100 nre=1000" >"$tmp/log" 2>&1
    status=$?
    check "no forked child of a host hangs with $1: $(grep -o 'forks=[0-9]*' "$tmp/log")" $status "$tmp/log"
}
forks "the library and no tool" ""
forks "the tool sample" "--tool sample:cpu=997"
forks "the tool calls" "--tool calls:tree"
forks "the tools exceptions and events" "--tool exceptions --tool events"
forks "all tools" "--tool sample:wall=99 --tool calls:trace --tool exceptions --tool events"
finish
