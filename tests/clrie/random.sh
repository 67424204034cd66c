#!/bin/bash
# SPDX-License-Identifier: MIT
# random.sh - checks that the checker of the library and the JITs of three runtimes agree: a plug-in makes random edits in
# every method of a base class library; what the checker accepts is compiled, what it refuses is named and compiled as it
# was. RANDOM_SEED: another seed. PREPARE=all tests more libraries.
. "$(dirname "$0")/../integration/lib.sh"
. tests/clrie/common.inc
: "${RANDOM_SEED:=1}" "${PREPARE:=some}"
need_real 3
[ -e "$BUILD/managed/prepare/prepare.dll" ] || skip_all "$0" "the app prepare is not built"
. tests/clrie/changes.inc
export RANDOM_SEED
echo "# seed $RANDOM_SEED"

# The app prepare runs nothing of these libraries while it compiles them.
libraries=System.Linq.Expressions
[ "$PREPARE" = all ] && libraries='System.Linq.Expressions System.Data.Common System.Private.Xml System.Private.Data
    Microsoft. System.Net. System.Security. System.Reflection.Metadata System.Text.Json System.Formats.'
config random
for library in $libraries; do
    for v in $versions; do
        DOTNET_ReadyToRun=0 "$runsxs" --timeout 500 "$v" prepare "methods=0 use=0 only=$library file=$tmp/plain" \
            >"$tmp/log" 2>&1 || not_ok "$v: prepare $library without the plug-in" "$tmp/log"
    done
    export PLUG_ONLY=$library
    DOTNET_ReadyToRun=0 run_on "$versions" prepare "methods=0 use=0 only=$library file=$tmp/edited"
    check "$library: the app ends as without the plug-in" $? "$tmp/std"
    [ "$(grep -c ' failed 0$' "$tmp/out")" = 3 ]
    check "$library: the edits themselves do not fail" $? "$tmp/out"
    for v in $versions; do
        python3 -B tests/clrie/random.py "$v" "$tmp/out" "$tmp/engine.log" "$tmp/plain.$v" "$tmp/edited.$v" 100 \
            >"$tmp/tap" 2>&1
        check "$library: the results of $v can be read" $? "$tmp/tap"
        sed "s/^\(ok\|not ok\) - /&$library: /" "$tmp/tap" | grep -E '^(ok|not ok|#)'
        grep -q '^not ok' "$tmp/tap" && any_failed=1
    done
    rm -f "$tmp/engine.log"
done

# Methods that are run: with edits that are always wrong, the program does what it does without.
export RANDOM_WRONG=1 PLUG_ONLY=kinds
for v in $versions; do "$runsxs" --timeout 100 "$v" kinds ""; done >"$tmp/plain" 2>&1
lines "$tmp/plain" >"$tmp/expected"
run_on "$versions" kinds ""
lines "$tmp/std" | diff "$tmp/expected" - >"$tmp/differences"
check "a program whose methods all get wrong edits runs as without" $? "$tmp/differences"
[ "$(grep -c ' edited ' "$tmp/out")" -gt 100 ] && ! grep -q ' accepted ' "$tmp/out" &&
    [ "$(grep -c 'stays without its changes: ..' "$tmp/engine.log")" -gt 100 ]
check "each wrong edit is named with its reason" $? "$tmp/out"
finish
