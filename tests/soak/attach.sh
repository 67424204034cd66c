# SPDX-License-Identifier: MIT
# attach.sh - attaches to programs under load and leaves them, RUNS times each (100), the tools taking turns: a web
# service of ASP.NET whose clients must get the same answers all the time, and a program with a NativeAOT library and a
# CLR side by side; then runtimes 8, 9 and 10, alone and in one process (tests/integration/attach_detach.sh), and a
# container (attach_container.sh). Prints what was measured.
#
# Two more copies of the service have the same clients: nobody attaches to one, and dotnet-trace attaches to the other
# TRACES times. So the table of memory tells what the program needs by itself, and what any attach costs.
#
# RUNS=100     attaches to each program
# TOOLS=all    the tools, separated by blanks; they take turns
# MS=300       how long each attach records
# PAUSE_MS=2   how long a client waits before its next request; 0: as many requests as possible
# TRACES=20    sessions of dotnet-trace
# PARTS        web aot three container (all)
. "$(dirname "$0")/../integration/lib.sh"
need_real 3
: "${RUNS:=100}" "${MS:=300}" "${TOOLS:=all}" "${PAUSE_MS:=2}" "${TRACES:=20}" "${PARTS:=web aot three container}"
. tests/integration/attach_many.inc
wanted() { case " $PARTS " in *" $1 "*) ;; *) return 1 ;; esac; }
trace=$BUILD/tools/dotnet-trace

# ---- a web service ----------------------------------------------------------------------------------

declare -A pid_of load_of url_of
serve() { # NAME: starts a copy of the service and its clients
    local fd
    mkfifo "$tmp/stdin.$1"
    DOTNET_ROLL_FORWARD=Major dotnet "$BUILD/managed/web/web.dll" 36000 <"$tmp/stdin.$1" >"$tmp/web.$1" 2>&1 &
    pid_of[$1]=$!
    exec {fd}>"$tmp/stdin.$1" # the service ends when this is closed
    listens() { url_of[$1]=$(sed -n 's/^listening on //p' "$tmp/web.$1") && [ -n "${url_of[$1]}" ]; }
    wait_until listens "$1" || return 1
    wrk -t1 -c8 -d36000 --timeout 60s -s "$tmp/pause.lua" "${url_of[$1]}/order" >"$tmp/wrk.$1" 2>&1 &
    load_of[$1]=$!
}
table() { # MOMENT
    echo "# memory that each service alone has written, KiB, $1: attached, alone, dotnet-trace"
    python3 tests/integration/memory_kinds.py "${pid_of[attached]}" "${pid_of[alone]}" "${pid_of[traced]}" | sed 's/^/#   /'
}
trace_often() {
    local n
    for n in $(seq "$TRACES"); do
        timeout 60 "$trace" collect -p "${pid_of[traced]}" --duration 00:00:01 -o "$tmp/trace.nettrace" >"$tmp/trace.log" 2>&1
        rm -f "$tmp/trace.nettrace"
    done
}
web() {
    local name tracer
    if [ "$PAUSE_MS" = 0 ]; then : >"$tmp/pause.lua"; else echo "function delay() return $PAUSE_MS end" >"$tmp/pause.lua"; fi
    for name in attached alone traced; do
        serve $name || { not_ok "the web service starts" "$tmp/web.$name" && return; }
    done
    sleep 20 # until hot code is optimized
    table "before"
    pid=${pid_of[attached]} control=${pid_of[alone]}
    trace_often &
    tracer=$!
    attach_many "a web service under load" 1
    control=
    wait $tracer
    table "after $RUNS attaches and $TRACES sessions of dotnet-trace"
    python3 - "${url_of[attached]}/order" >"$tmp/answer" 2>&1 <<'E2'
import json, sys, urllib.request
for _ in range(200):
    o = json.load(urllib.request.urlopen(sys.argv[1]))
    assert o["Customer"] == "customer %d" % (o["Id"] % 97) and len(o["Lines"]) == 5, o
    assert abs(sum(l["Price"] * l["Count"] for l in o["Lines"]) - o["Total"]) < 1e-6, o
E2
    check "the service's answers are right" $? "$tmp/answer"
    for name in attached alone traced; do
        kill -INT "${load_of[$name]}"
        wait "${load_of[$name]}"
        sed -n "s/^ *\(.* requests in\|Latency \|Socket errors\)/# $name: \1/p" "$tmp/wrk.$name"
    done
    ! grep -q 'Socket errors\|Non-2xx' "$tmp/wrk.attached"
    check "no request failed" $? "$tmp/wrk.attached"
    for name in attached alone traced; do
        echo >"$tmp/stdin.$name" # SIGTERM does not end this service: its Main waits for a line
        wait "${pid_of[$name]}"
        echo "$?" >"$tmp/status.$name"
    done
    [ "$(cat "$tmp/status.attached")" = "$(cat "$tmp/status.alone")" ]
    check "the service ends as the one that nobody attached to" $? "$tmp/web.attached"
}
if wanted web; then
    if command -v dotnet >/dev/null && command -v wrk >/dev/null && [ -e "$BUILD/managed/web/web.dll" ]; then
        web
    else
        ok "a web service under load # SKIP needs dotnet, wrk and the app web"
    fi
fi

# ---- NativeAOT, three runtimes, a container -----------------------------------------------------------

if ! wanted aot; then
    :
elif [ -e "$BUILD/native_aot/native_aot.so" ]; then
    LD_PRELOAD=$PWD/$BUILD/libsxsprof-preload.so timeout -k 5 36000 "$runsxs" --timeout 35990 9 aothost \
        "$PWD/$BUILD/native_aot/native_aot.so 1000000" >"$tmp/log" 2>&1 &
    outer=$!
    started() { pid=$(pgrep -P $outer -x runsxs) && grep -q 'native_aot\.so' "/proc/$pid/maps"; }
    wait_until started
    attach_many "a NativeAOT library beside a CLR" 1
    kill -0 "$pid"
    check "the program with the NativeAOT library lives" $? "$tmp/log"
    kill -9 "$pid"
    wait $outer 2>/dev/null
else
    ok "a NativeAOT library beside a CLR # SKIP it is not built"
fi

several() { # PART SCRIPT CLAIM
    wanted "$1" || return
    timeout 36000 env RUNS="$RUNS" TOOLS="$TOOLS" MS=100 bash "tests/integration/$2" >"$tmp/several" 2>&1
    check "$3: $RUNS attaches each" $? "$tmp/several"
    grep '^# .*: after' "$tmp/several"
}
several three attach_detach.sh "runtimes 8, 9 and 10, alone and in one process"
several container attach_container.sh "a container"
finish
