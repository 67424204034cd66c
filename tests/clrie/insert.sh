#!/bin/bash
# SPDX-License-Identifier: MIT
# insert.sh - checks that programs do the same when a plug-in inserts code at entry, before each ret and at each branch
# target of their methods: in three runtimes, each alone, all at once, and under `dotnet app.dll`.
. "$(dirname "$0")/../integration/lib.sh"
. tests/clrie/common.inc
need_real 3
. tests/clrie/changes.inc
own_dotnet || echo "# no dotnet command: nothing is run under dotnet"

# Every method that is entered returns once or throws an exception; the app profiled throws 13 through its methods.
counts() {
    [ "$(number targets "$1")" -gt 0 ] && [ "$(number rets "$1")" -gt 0 ] && [ "$(number left "$1")" -gt 0 ] &&
        case $app in
        profiled) [ "$(number entered "$1")" = $(($(number left "$1") + 13)) ] ;;
        *) [ "$(number entered "$1")" -ge "$(number left "$1")" ] ;;
        esac
}
for app in profiled kinds; do alone_and_at_once inserter "$app"; done
finish
