# SPDX-License-Identifier: MIT
# routes.sh - checks the names of endpoints of a web service with ASP.NET Core in each version that is here: they are the
# routes that the app declares, with and without instrumentation that sets tags, and no sample has another one's.
. "$(dirname "$0")/lib.sh"
need_real 1
[ -e "$BUILD/managed/routes/routes.dll" ] || skip_all "$0" "the app routes is not built"
ls "$BUILD"/aspnet/*/Microsoft.AspNetCore.dll >/dev/null 2>&1 || skip_all "$0" "ASP.NET Core is not in $BUILD/aspnet"

# serve VERSION [WORD]: records the app while the client asks
serve() {
    app=$tmp/app-$1
    rm -rf "$app" "$tmp/s"
    mkdir -p "$app" && cp "$BUILD"/managed/routes/* "$app" && ln -s "$(realpath "$BUILD")/aspnet/$1"/*.dll "$app" || return
    mkfifo "$tmp/stdin" 2>/dev/null
    : >"$tmp/out"
    timeout -k 5 300 "$sxsprof" run --quiet --tool sample:cpu=499,activity=on -o "$tmp/s" -- \
        "$runsxs" --timeout 280 "$BUILD/runtimes/$1" "$app/routes.dll" "${2:-}" <"$tmp/stdin" >"$tmp/out" 2>&1 &
    pid=$!
    exec 7>"$tmp/stdin"
    wait_until grep -q 'listening on' "$tmp/out" &&
        python3 tests/integration/routes_client.py "$(sed -n 's/^listening on //p' "$tmp/out")" 5 >"$tmp/requests" 2>&1
    asked=$?
    exec 7>&-
    wait $pid && return $asked
}

for v in $(real_versions); do
    [ -e "$BUILD/aspnet/$v/Microsoft.AspNetCore.dll" ] || continue
    for words in "" tags; do
        what="ASP.NET Core $v${words:+, with $words}"
        serve "$v" "$words"
        check "$what: the service answers and ends" $? "$tmp/out"
        "$sxsprof" report --format json "$tmp/s" >"$tmp/json" 2>"$tmp/log"
        check "$what: the session can be read" $? "$tmp/log"
        PYTHONPATH=tests/integration python3 tests/integration/routes.py "$tmp/s" "$tmp/json" "$tmp/requests" >"$tmp/said" 2>&1
        check "$what: endpoints are called by the routes that the app declares, and none by another's" $? "$tmp/said"
    done
    "$sxsprof" report --endpoint '/order/*' --format collapsed "$tmp/s" >"$tmp/order" 2>"$tmp/log"
    grep -q 'Routes.Work.Order' "$tmp/order" && ! grep -qE 'Routes.Work.(Hopping|Pool|User|Child|Item|Show|Branch)' "$tmp/order"
    check "ASP.NET Core $v: report --endpoint '/order/*' shows the samples of that route only" $? "$tmp/order"
done
finish
