#!/bin/bash
# SPDX-License-Identifier: MIT
# keep.sh - continuous mode for DURATION (3600 s): a web service of ASP.NET under load records a ring of segments, which
# sxsprof push --follow sends to a ClickHouse server. In between the service is stopped, killed and started again, push
# is killed, and the server hangs. At the end, ClickHouse must have exactly what all segments had, those included that
# the ring has deleted since; the ring must have stayed within its bound on disk.
#
# DURATION=3600  seconds; a sixth of it for each start of the service
# KEEP=10m,256M  as SXSPROF_KEEP    SEGMENT=60s  as SXSPROF_SEGMENT    TOOLS=sample  as SXSPROF_TOOLS; "": the default
. "$(dirname "$0")/../integration/lib.sh"
if [ -z "${CLICKHOUSE_PORT:-}" ]; then
    PATH=$PATH:/usr/sbin command -v clickhouse-server >/dev/null || skip_all "$0" "needs clickhouse-server: make setup GROUPS=fleet"
    command -v dotnet >/dev/null && command -v wrk >/dev/null && [ -e "$BUILD/managed/web/web.dll" ] ||
        skip_all "$0" "needs dotnet, wrk and the app web"
    sh tests/fleet/clickhouse.sh "$tmp/server" bash "$0"
    exit $?
fi
: "${DURATION:=3600}" "${KEEP:=10m,256M}" "${SEGMENT:=60s}" "${TOOLS:=}"
DURATION=${DURATION%s}
phase_s=$((DURATION / 6))
export SXSPROF_FLEET=clickhouse://127.0.0.1:$CLICKHOUSE_PORT/test
server=$(pgrep -P $PPID -x clickhouse-serv) || server=$(pgrep -P $PPID clickhouse)
ring=$tmp/ring
mkdir "$ring" "$tmp/all"
service=
push=
load=
python3 -B tests/soak/keep.py watch "$ring" "$tmp/all" "$tmp/watched" &
watch=$!
trap 'kill -CONT $server 2>/dev/null; kill -9 $service $push $load $watch 2>/dev/null; rm -rf "$tmp"' EXIT
"$sxsprof" fleet init >"$tmp/log" 2>&1
check "the server has the tables" $? "$tmp/log"

start_service() {
    rm -f "$tmp/stdin" && mkfifo "$tmp/stdin"
    (
        eval "$("$sxsprof" env -o "$ring" | grep -v 'SXSPROF_\(TOOLS\|KEEP\|SEGMENT\)')"
        export SXSPROF_KEEP=$KEEP SXSPROF_SEGMENT=$SEGMENT DOTNET_ROLL_FORWARD=Major
        [ -z "$TOOLS" ] || export SXSPROF_TOOLS=$TOOLS
        exec dotnet "$BUILD/managed/web/web.dll" 36000 <"$tmp/stdin" >"$tmp/web" 2>"$tmp/web.err"
    ) &
    service=$!
    exec 9>"$tmp/stdin"
    listens() { url=$(sed -n 's/^listening on //p' "$tmp/web") && [ -n "$url" ]; }
    wait_until listens
}
start_push() {
    "$sxsprof" push --server "$SXSPROF_FLEET" --service web --follow "$ring" --queue "$tmp/queue" >>"$tmp/push" 2>&1 &
    push=$!
}
# phase NAME: one life of the service under load; what happens in its middle, then its end
phase() {
    if ! start_service; then
        not_ok "$1: the service starts" "$tmp/web.err"
        return
    fi
    wrk -t1 -c8 --timeout 20s -d"$phase_s" "$url/order" >"$tmp/wrk" 2>&1 &
    load=$!
    sleep $((phase_s / 2))
    case $1 in
    *push*) kill -9 $push && wait $push 2>/dev/null; sleep 3 && start_push ;;
    *server*) kill -STOP "$server"; sleep $((phase_s > 150 ? 60 : phase_s / 3)); kill -CONT "$server" ;;
    esac
    wait $load
    kill -0 $service 2>/dev/null
    check "$1: the service runs to the end of its load" $? "$tmp/web.err"
    [ "$(grep -c 'Socket errors\|Non-2xx' "$tmp/wrk")" -eq 0 ]
    check "$1: no request failed" $? "$tmp/wrk"
    grep 'requests in' "$tmp/wrk" | sed 's/^ */# /'
    case $1 in
    *killed*) kill -9 $service ;;
    *) echo >&9 ;;
    esac
    wait $service 2>/dev/null
    status=$?
    exec 9>&-
    case $1 in
    *stopped*)
        [ $status -eq 0 ]
        check "$1: it ends with status 0 (it was $status)" $? "$tmp/web"
        ;;
    esac
    grep '^sxsprof' "$tmp/web.err" | sed 's/^/# /' | head -n 10
}
start_push
phase "1, stopped"
phase "2, killed"
phase "3, push dies, stopped"
phase "4, the server hangs, stopped"
phase "5, killed again"
phase "6, stopped again"
sleep 5
kill -INT $push
wait $push
status=$?
push=
check "push ends with status 0: it lost nothing" $status "$tmp/push"
kill -INT $watch
wait $watch
watch=

"$sxsprof" report "$tmp/all" >"$tmp/text" 2>"$tmp/log"
sed -n '1,/^runtime/p' "$tmp/text" | grep -v ^runtime | sed 's/^/# /'
"$sxsprof" report --data samples --format collapsed "$tmp/all" >"$tmp/report" 2>>"$tmp/log"
check "all segments can be read as one profile" $? "$tmp/log"
"$sxsprof" fleet flame --from @0 --to now --where service=web --format collapsed >"$tmp/flame" 2>"$tmp/log"
check "ClickHouse answers" $? "$tmp/log"
python3 -B tests/soak/keep.py compare "$tmp/report" "$tmp/flame" "$tmp/text" "$tmp/watched" "$KEEP" "$SEGMENT" >"$tmp/compared"
check "what the segments had is in ClickHouse, once; the ring kept to its bounds" $? "$tmp/compared"
sed 's/^/# /' "$tmp/compared"
finish
