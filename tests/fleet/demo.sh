#!/bin/sh
# SPDX-License-Identifier: MIT
# demo.sh - `make demo-fleet`: sessions of real runtimes become a hundred simulated machines in a ClickHouse
# server of Debian's package, which this script starts in a folder of its own and ends; then one flame graph of
# all machines, release 1 against release 2, and CPU by version of the runtime.
# OUT: where the page is written (default: BUILD/fleet.html)
set -u
cd "$(dirname "$0")/../.." || exit 1
: "${BUILD:=build}" "${OUT:=$BUILD/fleet.html}"
export BUILD OUT
if [ -z "${CLICKHOUSE_PORT:-}" ]; then
    dir=$(mktemp -d "${TMPDIR:-/tmp}/sxsprof-fleet.XXXXXX") || exit 1
    trap 'rm -rf "$dir"' EXIT
    trap 'exit 130' INT TERM
    export dir
    sh tests/fleet/clickhouse.sh "$dir/server" sh tests/fleet/demo.sh
    status=$?
    [ $status = 127 ] && echo "demo-fleet: no clickhouse-server here; make setup GROUPS=fleet installs it" >&2
    exit $status
fi
run() { # prints a command and what it says
    echo
    echo "\$ $*"
    "$@"
}
sxsprof() { "$BUILD/sxsprof" "$@" || exit 1; }

echo "== 1. Three programs, each on .NET 8, 9 and 10 in one process, are recorded"
sh tests/fleet/sessions.sh "$dir/sessions" 4 || exit 1
export SXSPROF_FLEET="clickhouse://127.0.0.1:$CLICKHOUSE_PORT/demo"

echo
echo "== 2. Tables in ClickHouse; one session as it is, and each as the profile of a service:"
echo "   100 simulated machines, 5 minutes each; those with release 2 are 20 % slower"
run sxsprof fleet init
run sxsprof push --server "$SXSPROF_FLEET" --service recorded "$dir/sessions/shop"
now=$(date +%s)
first=0
for service in shop:34 search:33 mail:33; do
    "$BUILD/tests/fleet_load" "$SXSPROF_FLEET" "service=${service%:*}" "machines=${service#*:}" first=$first minutes=5 \
        slower=1.2 "start=$((now / 60 * 60 - 600))" "$dir/sessions/${service%:*}" || exit 1
    first=$((first + ${service#*:}))
done

echo
echo "== 3. Questions"
run sxsprof fleet series --by service
run sxsprof fleet series --by runtime
run sxsprof fleet diff --by service --a version=1 --b version=2
run sxsprof fleet top --service search --top 8
run sxsprof fleet diff --service search --a version=1 --b version=2 --top 5
run sxsprof fleet flame --where 'service!=recorded' -o "$OUT"
echo
echo "The flame graph of all machines is in $OUT"
