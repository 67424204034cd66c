# SPDX-License-Identifier: MIT
# filters.sh - checks that exception filters receive the right exception while garbage is collected.
# With a profiler that monitors exceptions, 9.0 and 10.0 pass to a filter the address that the exception had
# before a collection. The library therefore pins the exception. docs/internals/hosts.md has the details.
. "$(dirname "$0")/lib.sh"
need_real 3
[ -e "$BUILD/managed/filters/filters.dll" ] || skip_all "$0" "the app filters is not built"

rounds=5000
known="filters: $((16 * rounds)) exceptions"
for v in $versions; do
    for tools in census exceptions; do
        rm -rf "$tmp/s"
        timeout -k 5 60 "$sxsprof" run --quiet --tool "$tools" -o "$tmp/s" -- "$runsxs" --timeout 50 \
            "$v" filters "rounds=$rounds" >"$tmp/log" 2>&1 && grep -qx "$known" "$tmp/log"
        status=$?
        check "$v, $tools: each filter receives the exception that was thrown" $status "$tmp/log"
    done
done
finish
