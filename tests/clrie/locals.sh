#!/bin/bash
# SPDX-License-Identifier: MIT
# locals.sh - checks that programs do the same when a plug-in gives their methods locals, one return, and a finally,
# catch, fault or filter around everything: in three runtimes, each alone, all at once, and under `dotnet app.dll`.
. "$(dirname "$0")/../integration/lib.sh"
. tests/clrie/common.inc
need_real 3
. tests/clrie/changes.inc
own_dotnet || echo "# no dotnet command: nothing is run under dotnet"

# Locals keep their values; a finally handler runs once for each call (at the end threads of the app kinds may be in
# such calls). With one form for all methods, the handler of
# profiled runs for 13 exceptions.
counts() {
    [ "$(number left "$1")" -gt 0 ] && [ "$(number wrong "$1")" = 0 ] && [ "$(number joined "$1")" -gt 0 ] &&
        [ "$(number finally "$1")" -le "$(number guarded "$1")" ] || return
    [ "$app" = profiled ] && [ "$(number finally "$1")" != "$(number guarded "$1")" ] && return 1
    [ -z "${PLUG_FORM:-}" ] && return
    local finally=0 catch=0 fault=0 filter=0
    case $PLUG_FORM in
    1) finally=$(number entered "$1") ;;
    2) catch=13 ;;
    3) fault=13 ;;
    4) filter=13 ;;
    5) finally=$(number entered "$1") catch=13 ;;
    esac
    [ "$(number finally "$1") $(number catch "$1") $(number fault "$1") $(number filter "$1")" = \
        "$finally $catch $fault $filter" ]
}
for app in profiled kinds; do alone_and_at_once locals "$app"; done
config locals
for v in $versions; do "$runsxs" --timeout 100 "$v" profiled ""; done >"$tmp/plain" 2>&1
lines "$tmp/plain" >"$tmp/expected"
app=profiled
for PLUG_FORM in 0 1 2 3 4 5; do
    export PLUG_FORM
    run_on "$versions" profiled ""
    compare "form $PLUG_FORM around every method: the handlers run as often as they must" "$tmp/expected" $versions
done
finish
