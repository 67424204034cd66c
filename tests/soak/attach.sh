# SPDX-License-Identifier: MIT
# attach.sh - attaches to programs under load and leaves them, RUNS times each (100): a web service of ASP.NET whose
# clients must get the same answers all the time, and a program with a NativeAOT library and a CLR side by side; then the
# three runtimes of tests/integration/attach_detach.sh. Prints what was measured.
#
# RUNS=100     attaches to each program
# TOOLS=LIST   the tools, separated by blanks; they take turns (default: all that can start late)
# SECONDS_EACH how long each attach records (0.3)
. "$(dirname "$0")/../integration/lib.sh"
need_real 3
: "${RUNS:=100}" "${SECONDS_EACH:=0.3}" "${TOOLS:=sample wait exceptions events gc alloc locks heap}"
ms=$(python3 -c "print(int($SECONDS_EACH * 1000))")
read -ra tools <<<"$TOOLS"
private_kib() { awk '/^Private_(Clean|Dirty):/ { sum += $2 } END { print sum }' "/proc/$pid/smaps_rollup"; }
descriptors() { find "/proc/$pid/fd" -mindepth 1 | wc -l; }
threads() { find "/proc/$pid/task" -mindepth 1 -maxdepth 1 | wc -l; }
mappings() { grep -c . "/proc/$pid/maps"; }

# many CLAIM: attaches RUNS times to $pid; the tools take turns
many() {
    local n good=0 first
    for n in $(seq "$RUNS"); do
        tool=${tools[$((n % ${#tools[@]}))]}
        if timeout 180 "$sxsprof" attach --tool "$tool" --duration "${ms}ms" -o "$tmp/out" "$pid" >"$tmp/attach" 2>&1 &&
            "$sxsprof" report "$tmp/out" >"$tmp/text" 2>>"$tmp/attach"; then
            good=$((good + 1))
        else
            echo "# attach $n, tool $tool:" && sed 's/^/#   /' "$tmp/attach" | head -n 20
            kill -0 "$pid" 2>/dev/null || break
        fi
        rm -rf "$tmp/out"
        # Each tool has had a turn: what its first use leaves is known.
        [ "$n" = "${#tools[@]}" ] && first="$(private_kib) KiB, $(descriptors) descriptors, $(threads) threads, $(mappings) mappings"
    done
    sleep 1
    echo "# $1: after each tool once: ${first:-?}"
    echo "# $1: after $RUNS attaches:  $(private_kib) KiB, $(descriptors) descriptors, $(threads) threads, $(mappings) mappings"
    [ $good -eq "$RUNS" ]
    check "$1: $good of $RUNS attaches recorded and left it" $?
}

if command -v dotnet >/dev/null && command -v wrk >/dev/null && [ -e "$BUILD/managed/web/web.dll" ]; then
    mkfifo "$tmp/stdin"
    DOTNET_ROLL_FORWARD=Major dotnet "$BUILD/managed/web/web.dll" 36000 <"$tmp/stdin" >"$tmp/web" 2>&1 &
    pid=$!
    exec 9>"$tmp/stdin"
    listens() { url=$(sed -n 's/^listening on //p' "$tmp/web") && [ -n "$url" ]; }
    if wait_until listens; then
        wrk -t1 -c8 -d36000 "$url/order" >"$tmp/wrk" 2>&1 &
        load=$!
        many "a web service under load"
        python3 - "$url/order" >"$tmp/answer" 2>&1 <<'E2'
import json, sys, urllib.request
for _ in range(200):
    o = json.load(urllib.request.urlopen(sys.argv[1]))
    assert o["Customer"] == "customer %d" % (o["Id"] % 97) and len(o["Lines"]) == 5, o
    assert abs(sum(l["Price"] * l["Count"] for l in o["Lines"]) - o["Total"]) < 1e-6, o
E2
        check "the service's answers are right" $? "$tmp/answer"
        kill -INT $load
        wait $load
        ! grep -q 'Socket errors\|Non-2xx' "$tmp/wrk"
        check "no request failed" $? "$tmp/wrk"
        grep 'requests in' "$tmp/wrk" | sed 's/^ */# /'
        echo >&9
        wait $pid
        check "the service ends with status 0" $? "$tmp/web"
    else
        not_ok "the web service starts" "$tmp/web"
    fi
else
    ok "a web service under load # SKIP needs dotnet, wrk and the app web"
fi

if [ -e "$BUILD/native_aot/native_aot.so" ]; then
    LD_PRELOAD=$PWD/$BUILD/libsxsprof-preload.so timeout -k 5 36000 "$runsxs" --timeout 35990 9 aothost \
        "$PWD/$BUILD/native_aot/native_aot.so 1000000" >"$tmp/log" 2>&1 &
    outer=$!
    started() { pid=$(pgrep -P $outer -x runsxs) && grep -q 'native_aot\.so' "/proc/$pid/maps"; }
    wait_until started
    many "a NativeAOT library beside a CLR"
    kill -0 "$pid"
    check "the program with the NativeAOT library lives" $? "$tmp/log"
    kill -9 "$pid"
    wait $outer 2>/dev/null
else
    ok "a NativeAOT library beside a CLR # SKIP it is not built"
fi

timeout 36000 env RUNS="$RUNS" TOOLS=sample bash tests/integration/attach_detach.sh >"$tmp/three" 2>&1
check "runtimes 8, 9 and 10, alone and in one process: $RUNS attaches each" $? "$tmp/three"
finish
