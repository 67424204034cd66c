#!/bin/bash
# SPDX-License-Identifier: MIT
# compiled.sh - checks that three runtimes compile, and run, methods of the base class libraries with what plug-ins add to
# each: code at entry, exits and branch targets (inserter), or locals, clauses and one return (locals). Every method has
# the outcome that it has without a plug-in. PREPARE=N tests N methods of each runtime, in all at once; PREPARE=all tests
# all methods (minutes), one runtime after the other.
. "$(dirname "$0")/../integration/lib.sh"
. tests/clrie/common.inc
: "${PREPARE:=500}"
need_real 3
[ -e "$BUILD/managed/prepare/prepare.dll" ] || skip_all "$0" "the app prepare is not built"
. tests/clrie/changes.inc
export DOTNET_ReadyToRun=0 # so that the libraries are compiled here
least=$PREPARE
[ "$PREPARE" = all ] && PREPARE=0 least=100000

# over PLUGIN VERSION...: run the app with the plug-in, and compare
over() {
    local plugin=$1 v status
    shift
    config "$plugin"
    run_on "$*" prepare "methods=$PREPARE file=$tmp/$plugin"
    status=$?
    check "$*: the app ends with $plugin as without" $status "$tmp/std"
    # Methods that are declared with IL can have none: the runtime makes their code (unsafe accessors). They are named.
    grep -v 'stays without its changes: there is no IL of it' "$tmp/engine.log" >"$tmp/refused"
    [ ! -s "$tmp/refused" ]
    check "$*: the checker refuses nothing of $plugin" $? "$tmp/refused"
    for v; do
        sort "$tmp/plain.$v" >"$tmp/expected"
        sort "$tmp/$plugin.$v" | diff "$tmp/expected" - >"$tmp/differences"
        status=$?
        check "$v: $(grep -c ' ok ' "$tmp/plain.$v") of $(grep -vc '^uses' "$tmp/plain.$v") methods are compiled, and all \
have the outcome without $plugin" $status "$tmp/differences"
        [ "$(number methods "$v")" -ge "$least" ] && [ "$(number methods "$v")" = "$(number completed "$v")" ] &&
            [ "$(number failed "$v")" = 0 ] && [ "$(number entered "$v")" -gt 0 ] &&
            case $plugin in locals) [ "$(number wrong "$v")" = 0 ] ;; *) true ;; esac
        status=$?
        check "$v: $(number methods "$v") methods changed by $plugin, entered $(number entered "$v") times" $status "$tmp/out"
    done
    rm -f "$tmp/engine.log"
}
for v in $versions; do
    "$runsxs" --timeout 500 "$v" prepare "methods=$PREPARE file=$tmp/plain" >"$tmp/log" 2>&1 ||
        not_ok "$v: prepare without a plug-in" "$tmp/log"
done
for plugin in inserter locals; do
    # shellcheck disable=SC2086
    if [ "$PREPARE" -gt 0 ]; then over $plugin $versions; else for v in $versions; do over $plugin "$v"; done; fi
done
finish
