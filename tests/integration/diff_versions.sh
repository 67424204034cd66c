#!/bin/bash
# SPDX-License-Identifier: MIT
# diff_versions.sh - compares sessions of one program on two versions of real runtimes, by sxsprof diff (text, page, heap
# snapshots, collections) and by sxsprof fleet diff: functions are matched, whatever the version is, and the sums of each
# side stay those of its session.
. "$(dirname "$0")/lib.sh"
need_real 2
if [ -z "${CLICKHOUSE_PORT:-}" ] && PATH=$PATH:/usr/sbin command -v clickhouse-server >/dev/null; then
    sh tests/fleet/clickhouse.sh "$tmp/server" bash tests/integration/diff_versions.sh
    status=$?
    [ $status = 126 ] && not_ok "the server starts" "$tmp/server/error.log"
    exit $status
fi
unset SXSPROF_FLEET_PASSWORD
old=$(echo "$versions" | tail -n 2 | head -n 1) new=$(echo "$versions" | tail -n 1)

record() { # NAME RUNTIME...: a session of these runtimes
    local name=$1
    shift
    timeout -k 5 120 "$sxsprof" run --quiet --tool sample:cpu=499 --tool gc --tool heap --heap-at-exit -o "$tmp/$name" -- \
        "$runsxs" --timeout 100 "$@" >"$tmp/log" 2>&1
    check "a session is recorded: $name" $? "$tmp/log"
}
same="alpha=40 beta=30 native=10 seconds=2 litter=1"
record old "${old%%.*}" shares "$same"
record new "${new%%.*}" shares "$same"
record changed "${new%%.*}" shares "alpha=65 beta=5 native=10 seconds=2 litter=1"
record both "${old%%.*}" shares "alpha=40 beta=30 seconds=2" "${new%%.*}" shares "alpha=10 beta=60 seconds=2"

# versions SESSION: the versions of its runtimes in ascending order, as the session has them
versions() {
    "$sxsprof" report --format json "$tmp/$1" 2>/dev/null |
        python3 -c 'import json, sys; print(*sorted({r["version"] for r in json.load(sys.stdin)["runtimes"]}))'
}
was=$(versions old) is=$(versions new)
[ -n "$was" ] && [ -n "$is" ] && [ "$was" != "$is" ]
check "they are of two versions: $was, $is" $?

# diffed CLAIM A B COMMAND: COMMAND, a function of tests/integration/diff_versions.py, on the page and the text of A and B
diffed() {
    "$sxsprof" diff -o "$tmp/page.html" "$tmp/$2" "$tmp/$3" 2>"$tmp/said" &&
        "$sxsprof" diff --top 100000 -o "$tmp/text" "$tmp/$2" "$tmp/$3" 2>"$tmp/said"
    check "$2 and $3 are compared" $? "$tmp/said"
    "$sxsprof" report --format collapsed -o "$tmp/a" "$tmp/$2" 2>/dev/null
    "$sxsprof" report --format collapsed -o "$tmp/b" "$tmp/$3" 2>/dev/null
    python3 -B tests/integration/diff_versions.py "$4" "$tmp" "$was" "$is" >"$tmp/said" 2>&1
    check "$1" $? "$tmp/said"
}
diffed "the same program on two versions: its functions are matched" old new same
diffed "a change on the other version is a change of that function" old changed changed
diffed "and so it is the other way round" changed old changed_back
diffed "two runtimes in one process: equal versions are matched, and nothing is added up" both new both

"$sxsprof" diff --data heap -o "$tmp/heap" "$tmp/old" "$tmp/new" 2>"$tmp/said" && grep -qF "runtime 1: $was -> $is" "$tmp/heap"
check "heap snapshots: both versions are named" $? "$tmp/heap"
"$sxsprof" heap --format json --diff "$tmp/old" -o "$tmp/heap.json" "$tmp/both" 2>"$tmp/said" &&
    python3 - "$tmp/heap.json" "$was" "$is" <<'P' >"$tmp/said" 2>&1
import json, sys
d = json.load(open(sys.argv[1]))
found = {r["version"]: r for r in d["runtimes"]}
assert {v: r["version_before"] for v, r in found.items()} == {sys.argv[2]: sys.argv[2], sys.argv[3]: None}, d["runtimes"]
new = found[sys.argv[3]]["runtime"]
assert {t["objects_before"] for t in d["heap"] if t["runtime"] == new} == {0}, d["heap"][:9]
P
check "heap snapshots: a runtime more is compared with none" $? "$tmp/said"
"$sxsprof" diff --data gc -o "$tmp/gc" "$tmp/old" "$tmp/new" 2>"$tmp/said" && grep -qF "[$was -> $is]" "$tmp/gc" &&
    ! grep -qF -e "[$was]" -e "[$is]" "$tmp/gc"
check "collections are matched by generation, and both versions are named" $? "$tmp/gc"

if [ -z "${CLICKHOUSE_PORT:-}" ]; then
    ok "fleet diff # SKIP needs clickhouse-server: make setup GROUPS=fleet"
    finish
fi
export SXSPROF_FLEET=clickhouse://127.0.0.1:$CLICKHOUSE_PORT/versions
"$sxsprof" fleet init >"$tmp/log" 2>&1
check "a database for a fleet is made" $? "$tmp/log"
for name in old new changed both; do
    "$sxsprof" push --server "$SXSPROF_FLEET" --service shop --label "service.version=$name" "$tmp/$name" >"$tmp/log" 2>&1
    check "$name is pushed" $? "$tmp/log"
done
# fleet_diffed CLAIM A B COMMAND: as diffed(), of what the fleet has
fleet_diffed() {
    "$sxsprof" fleet diff --a "version=$2" --b "version=$3" --top 100000 --format json >"$tmp/diff" 2>"$tmp/said" &&
        "$sxsprof" fleet top --where "version=$2" --top 100000 --format json >"$tmp/top_a" 2>"$tmp/said" &&
        "$sxsprof" fleet top --where "version=$3" --top 100000 --format json >"$tmp/top_b" 2>"$tmp/said" &&
        "$sxsprof" fleet diff --a "version=$2" --b "version=$3" --format html -o "$tmp/page.html" 2>"$tmp/said" &&
        "$sxsprof" fleet flame --where "version=$2" --format collapsed -o "$tmp/a" 2>"$tmp/said" &&
        "$sxsprof" fleet flame --where "version=$3" --format collapsed -o "$tmp/b" 2>"$tmp/said"
    check "a fleet's $2 and $3 are compared" $? "$tmp/said"
    python3 -B tests/integration/diff_versions.py "fleet_$4" "$tmp" "$was" "$is" >"$tmp/said" 2>&1
    check "a fleet: $1" $? "$tmp/said"
}
fleet_diffed "the same program on two versions: its functions are matched" old new same
fleet_diffed "a change on the other version is a change of that function" old changed changed
fleet_diffed "two runtimes in one process: equal versions are matched, and nothing is added up" both new both
"$sxsprof" fleet diff --a version=old --b version=changed --top 2 >"$tmp/text" 2>&1
grep -qF "[$was -> $is] Shares.Program.Alpha(" "$tmp/text" && grep -qF "[$was -> $is] Shares.Program.Beta(" "$tmp/text"
check "a fleet: the text names the functions that changed, with both versions" $? "$tmp/text"
finish
