# SPDX-License-Identifier: MIT
# clrie_identity.sh - checks that real runtimes take the library for the CLR Instrumentation Engine: by its class ID,
# and as a copy named libInstrumentationEngine.so in a product's folder, also when this profiler is asked to adopt it.
. "$(dirname "$0")/lib.sh"
need_real 1
unset "${!MicrosoftInstrumentationEngine_@}" "${!CORECLR_@}" 2>/dev/null
engine='{324F817A-7420-4E6D-B3C1-143FBED6D855}'
mkdir "$tmp/product"
cp "$BUILD/libsxsprof.so" "$tmp/product/libInstrumentationEngine.so"
cp "$BUILD/libsxsprof-clrie.so" "$tmp/product/"
copy=$tmp/product/libInstrumentationEngine.so

states() { jsonq "$1" "[x['state'] for x in r]"; }
for version in $versions; do
    CORECLR_ENABLE_PROFILING=1 CORECLR_PROFILER=$engine CORECLR_PROFILER_PATH_64=$copy SXSPROF_OUT=$tmp/out.$version \
        timeout -k 5 100 "$runsxs" --timeout 90 "$version" hello "" >"$tmp/log" 2>&1
    status=$?
    "$sxsprof" report --format json "$tmp/out.$version" >"$tmp/json" 2>>"$tmp/log"
    [ $status -eq 0 ] && [ "$(states "$tmp/json")" = "['picked']" ]
    check "runtime $version loads a copy of the library as CLRIE, and is profiled" $? "$tmp/log"
done

# A script that sets the product's engine inside the command, under --adopt.
cat >"$tmp/script.sh" <<END
export CORECLR_ENABLE_PROFILING=1 CORECLR_PROFILER='$engine' CORECLR_PROFILER_PATH_64='$copy'
env | grep -E '^(SXSPROF_GUESTS|CORECLR_PROFILER)' >'$tmp/env'
exec '$PWD/$runsxs' --timeout 90 $(echo "$versions" | head -n 1) hello ""
END
timeout -k 5 100 "$sxsprof" run --quiet --adopt -o "$tmp/adopted" -- sh "$tmp/script.sh" >"$tmp/log" 2>&1
status=$?
"$sxsprof" report --format json "$tmp/adopted" >"$tmp/json" 2>>"$tmp/log"
[ $status -eq 0 ] && [ "$(states "$tmp/json")" = "['picked']" ] && grep -qx SXSPROF_GUESTS=adopt "$tmp/env"
check "--adopt takes a copy of the library for this profiler, not for a guest" $? "$tmp/log"

SXSPROF_GUESTS="$engine=$copy" timeout -k 5 100 "$sxsprof" env --no-preload >"$tmp/settings" 2>"$tmp/log"
SXSPROF_OUT=$tmp/guest SXSPROF_GUESTS="$engine=$copy" sh -c 'eval "$(cat "$1")"; shift; exec "$@"' sh "$tmp/settings" \
    timeout -k 5 100 "$runsxs" --timeout 90 "$(echo "$versions" | head -n 1)" hello "" >"$tmp/log" 2>&1
status=$?
[ $status -eq 0 ] && grep -q "it is this profiler itself, or a copy of it" "$tmp/log"
check "a copy of the library that is declared as a guest is left out, with a line" $? "$tmp/log"
finish
