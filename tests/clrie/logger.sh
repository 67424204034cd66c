#!/bin/bash
# SPDX-License-Identifier: MIT
# logger.sh - what a plug-in sees of the app profiled: the lines of logger.expected on each runtime, but for one method
# that 8.0 compiles on its own and later ones inline. CLRIE's own engine gives the same lines, without the last one.
. "$(dirname "$0")/../integration/lib.sh"
. tests/clrie/common.inc
need_real 3
[ -e "$BUILD/managed/profiled/profiled.dll" ] || skip_all "$0" "the managed apps are not built"
export DOTNET_TieredCompilation=0 DOTNET_gcConcurrent=0 LOGGER_ONLY=profiled
all="8.0 9.0 10.0.11"

# expected VERSION: what the plug-in says there
expected() {
    if [ "$1" = 8.0 ]; then cat tests/clrie/logger.expected; return; fi
    grep -v ' Profiled\.Source\.\.ctor ' tests/clrie/logger.expected
}
# lines VERSION: what it said there, without the line of the inlined method, and without what is inlined into Main: the
# CLR sometimes asks for these twice.
lines() {
    sed -n "s/^logger ${1%.0}[0-9.]* //p" "$tmp/out" |
        grep -v '^AllowInlineSite Profiled\.\(Source\.\.ctor\|Program\.\(Number\|Text\|Round\)\) '
}
compare() { # CLAIM VERSION
    lines "$2" >"$tmp/got"
    expected "$2" | diff - "$tmp/got" >"$tmp/diff"
    check "$1" $? "$tmp/diff"
}
config logger
for version in $all; do
    run_on $version profiled ""
    check "runtime $version: the program ends as without the plug-in" $? "$tmp/std"
    compare "runtime $version alone: all callbacks, in order" $version
done
run_on "$all" profiled ""
check "all at once: the program ends as without the plug-in" $? "$tmp/std"
for version in $all; do compare "runtime $version beside others: all callbacks, in order" $version; done
if command -v dotnet >/dev/null; then
    with_plugins dotnet "$BUILD/managed/profiled/profiled.dll"
    check "under dotnet app.dll: the program ends as without the plug-in" $? "$tmp/std"
    [ "$(grep -c 'OnInstrumentationComplete Profiled.Program.Main' "$tmp/out")" = 1 ] &&
        grep -q 'OnShutdown' "$tmp/out"
    check "and the plug-in sees its methods" $? "$tmp/out"
fi
finish
