# SPDX-License-Identifier: MIT
# formats_agree.sh - records every tool of the library on a real runtime, and compares all outputs of the session number by
# number: text, JSON, page (its data, also as sxsprof serve sends it, and what a browser shows), pprof, collapsed stacks, speedscope, top, pushes, and a fleet's server. The list
# of tools is that of the command, so a tool without a program here, or without a comparison, fails.
. "$(dirname "$0")/lib.sh"
need_real 1
if [ -z "${CLICKHOUSE_PORT:-}" ] && PATH=$PATH:/usr/sbin command -v clickhouse-server >/dev/null; then
    sh tests/fleet/clickhouse.sh "$tmp/server" bash tests/integration/formats_agree.sh
    status=$?
    [ $status = 126 ] && not_ok "the server of a fleet starts" "$tmp/server/error.log"
    exit $status
fi
v=${VERSION:-$(echo "$versions" | grep '^9\.' | head -n 1)}
v=${v:-$(echo "$versions" | head -n 1)}
tools=$("$sxsprof" run --tool nonsense -- true 2>&1 | sed -n 's/.*(known: \(.*\))$/\1/p' | tr -d ,)
[ "$(echo "$tools" | wc -w)" -ge 12 ]
check "the command lists its tools: $tools" $?

cat >"$tmp/rules.xml" <<'X'
<?xml version="1.0"?><instrumentation xmlns="urn:sxsprof:instrumentation:1">
<rule><match assembly="instrumented" type="Instrumented.Work" method="Fib"/><trace arguments="*" label="fibonacci"/></rule>
</instrumentation>
X
record() { # TOOL: records it in $tmp/TOOL.s
    local options="" app
    case $1 in
    census | wait | exceptions | events | gc) app="stress gcs=5" ;;
    heap) app="stress gcs=2" options="--heap-at-exit" ;;
    sample) app="shares alpha=40,beta=30,native=10,seconds=1" ;;
    calls) app="calls fib=12,threads=3,even=20,throws=8" ;;
    alloc) app="memory drop:small=300000" options="--tool alloc:interval=100k" ;; # 70 objects are chosen, on average
    native) app="stress gcs=5" options="--tool native:interval=100k" ;;
    locks) app="contend rounds=2,waiters=3" ;;
    instrument) app="instrumented rounds=1,fib=12" options="--instrument $tmp/rules.xml" ;;
    *) echo "no program for the tool $1"; return 1 ;;
    esac
    # shellcheck disable=SC2086
    timeout -k 5 120 "$sxsprof" run --quiet ${options:---tool $1} -o "$tmp/$1.s" -- "$runsxs" --timeout 100 "$v" ${app%% *} \
        "$(echo "${app#* }" | tr , ' ')"
}
# Gets the page of each kind of data of a session from sxsprof serve, as a browser does.
served() { # TOOL
    rm -f "$tmp/address"
    "$sxsprof" serve "$tmp/$1.s" >"$tmp/address" 2>"$tmp/served" </dev/null &
    local server=$! status
    wait_until test -s "$tmp/address" && python3 - "$(cat "$tmp/address")" "$tmp/$1" <<'P'
import json, sys, urllib.request
address, _, token = sys.argv[1].partition("?token=")
def ask(path):
    with urllib.request.urlopen(urllib.request.Request(address + path, headers={"Authorization": "Bearer " + token})) as answer:
        return answer.read().decode()
[session] = json.loads(ask("sessions"))["sessions"]
first = json.loads(ask("session/%s/data" % session["name"]))
for data in first["data"].get("parts") or [first["data"]["data"]]:
    with open("%s.served.%s" % (sys.argv[2], data), "w") as to:
        to.write(ask("session/%s/data?data=%s" % (session["name"], data)) if first["data"].get("parts") else json.dumps(first))
P
    status=$?
    kill $server
    wait $server
    return $status
}
# Writes the session of a tool in every format.
outputs() {
    local s=$tmp/$1.s to=$tmp/$1 data
    "$sxsprof" report "$s" >"$to.text" && "$sxsprof" report --format json "$s" >"$to.json" || return
    "$sxsprof" top --format json -n 1 --top 1000 "$s" >"$to.top" || return
    if [ "$1" = heap ]; then
        for format in text json html; do "$sxsprof" heap --format $format "$s" >"$to.heap.$format" || return; done
    fi
    case $1 in census | heap) return ;; esac
    "$sxsprof" report --format html -o "$to.html" "$s" || return
    served "$1" || return
    for data in samples calls alloc native locks wait; do
        "$sxsprof" report --data $data --format collapsed -o "$to.collapsed.$data" "$s" 2>/dev/null || continue
        "$sxsprof" report --data $data --format speedscope -o "$to.speedscope.$data" "$s" &&
            "$sxsprof" report --data $data --format pprof -o "$to.pprof.$data" "$s" || return
    done
}
push() { # TOOL DATA: sends the session to a server of profiles, which keeps what it gets
    rm -f "$tmp/port"
    mkdir "$tmp/$1.pushed" && python3 tests/command/push_receiver.py "$tmp/$1.pushed" >"$tmp/port" 2>"$tmp/receiver" &
    local receiver=$!
    wait_until test -s "$tmp/port" &&
        "$sxsprof" push --server "http://127.0.0.1:$(cat "$tmp/port")" --data "$2" --queue "$tmp/$1.queue" "$tmp/$1.s"
    local status=$?
    kill $receiver
    wait $receiver 2>/dev/null
    return $status
}

# Sends the session to the server of a fleet, and asks it for the functions of each kind of data.
fleet() { # TOOL
    local kind
    "$sxsprof" push --server "$SXSPROF_FLEET" --service "$1" "$tmp/$1.s" || return
    for kind in cpu wall alloc native locks wait; do
        "$sxsprof" fleet top --service "$1" --data $kind --top 100000 --format json >"$tmp/$1.fleet.$kind" 2>"$tmp/none" ||
            rm "$tmp/$1.fleet.$kind"
    done
    ls "$tmp/$1".fleet.*
}
if [ -n "${CLICKHOUSE_PORT:-}" ]; then
    export SXSPROF_FLEET=clickhouse://127.0.0.1:$CLICKHOUSE_PORT/agree
    "$sxsprof" fleet init >"$tmp/log" 2>&1
    check "the server of a fleet has its tables" $? "$tmp/log"
else
    ok "in a fleet's server # SKIP needs clickhouse-server: make setup GROUPS=fleet"
fi

for tool in $tools; do
    record "$tool" >"$tmp/log" 2>&1 && outputs "$tool" >>"$tmp/log" 2>&1
    check "$tool: a session is recorded and written in every format" $? "$tmp/log"
    case ${CLICKHOUSE_PORT:+$tool} in
    sample | wait | alloc | native | locks)
        fleet "$tool" >"$tmp/log" 2>&1
        check "$tool: the server of a fleet has the session" $? "$tmp/log"
        ;;
    esac
done
CALLS=$(python3 -c '
import json, sys
print(sum(r["calls"] for r in json.load(open(sys.argv[1]))["instrument"]))' "$tmp/instrument.json")
export CALLS
for tool in sample:samples alloc:alloc; do
    push ${tool%:*} ${tool#*:} >"$tmp/log" 2>&1
    check "${tool%:*}: the session is pushed" $? "$tmp/log"
done
if NODE_MODULES=$(sh setup/browser.sh --present 2>"$tmp/lacks"); then
    export NODE_MODULES
    timeout -k 5 300 node tests/integration/formats_agree.mjs "$tmp"/*.html >"$tmp/shown" 2>"$tmp/log"
    check "the pages are opened in a browser" $? "$tmp/log"
else
    ok "in a browser # SKIP $(cat "$tmp/lacks")"
fi
for tool in $tools; do
    python3 tests/integration/formats_agree.py "$tmp" "$tool" >"$tmp/said" 2>"$tmp/log"
    status=$?
    grep -c '^ok' "$tmp/said" >"$tmp/n"
    grep -v '^ok' "$tmp/said" >>"$tmp/log"
    check "$tool: all outputs agree ($(cat "$tmp/n") comparisons)" $status "$tmp/log"
done
[ -n "${KEEP:-}" ] && cp -r "$tmp" "$KEEP"
finish
