#!/bin/bash
# SPDX-License-Identifier: MIT
# logger.sh - what a plug-in sees of the app profiled: exactly the lines of logger.expected on each runtime, except one
# method that 8.0 compiles on its own and later ones inline. Measured once for this file: CLRIE's own engine gives the
# same lines on .NET 8, 9 and 10, each alone, without the last one ("released"). LOGGER_RUNS: runs of all at once.
. "$(dirname "$0")/../integration/lib.sh"
. tests/clrie/common.inc
need_real 3
[ -e "$BUILD/managed/profiled/profiled.dll" ] || skip_all "$0" "the managed apps are not built"
export DOTNET_TieredCompilation=0 DOTNET_gcConcurrent=0 LOGGER_ONLY=profiled
all="8.0 9.0 $net10"

# expected VERSION: what the plug-in says there
expected() {
    if [ "$1" = 8.0 ]; then cat tests/clrie/logger.expected; return; fi
    sed -e '/ Profiled\.Source\.\.ctor /d' \
        -e '/^OnInstrumentationComplete Profiled\.Source\.\.cctor /a AllowInlineSite Profiled.Source..ctor into Profiled.Source..cctor: 1' \
        tests/clrie/logger.expected
}
# lines VERSION: what it said there
lines() { sed -n "s/^logger ${1%.0}[0-9.]* //p" "$tmp/out"; }
# fold: of one compilation whose questions about inlining come twice, leave out the second time. The CLR compiles a
# method a second time inside of one compilation, asking everything again, when an address turns out to be more than 2 GB
# away from the code; from then on, all code of that runtime is compiled for long distances. So it happens once at most.
# Beside other runtimes, the code of a runtime gets a place that far from libcoreclr.so; alone it does not. Measured: the
# questions come twice exactly on those runtimes whose code is further away than that, with CLRIE's own engine, too.
fold() {
    awk '
    function halves_are_equal(   i) {
        if (n == 0 || n % 2) return 0
        for (i = 1; i <= n / 2; i++) if (line[at[i]] != line[at[i + n / 2]]) return 0
        return 1
    }
    { line[NR] = $0 }
    /^OnInstrumentationComplete / { n = 0 }
    /^AllowInlineSite / { at[++n] = NR }
    /^JitComplete / {
        if (!folded && halves_are_equal()) for (folded = i = 1; i <= n / 2; i++) drop[at[i + n / 2]] = 1
        n = 0
    }
    END { for (i = 1; i <= NR; i++) if (!(i in drop)) print line[i] }'
}
compare() { # CLAIM VERSION [FILTER]
    lines "$2" | ${3:-cat} >"$tmp/got"
    expected "$2" | diff - "$tmp/got" >"$tmp/diff"
    check "$1" $? "$tmp/diff"
}
config logger
expected 9.0 | fold | cmp -s - <(expected 9.0) && expected 8.0 | fold | cmp -s - <(expected 8.0)
check "no compilation has two equal halves of questions by itself" $?
for version in $all; do
    run_on $version profiled ""
    check "runtime $version: the program ends as without the plug-in" $? "$tmp/std"
    compare "runtime $version alone: all callbacks, in order" $version
done
for _ in $(seq "${LOGGER_RUNS:-1}"); do
    run_on "$all" profiled ""
    check "all at once: the program ends as without the plug-in" $? "$tmp/std"
    for version in $all; do compare "runtime $version beside others: all callbacks, in order" $version fold; done
done
if command -v dotnet >/dev/null; then
    with_plugins dotnet "$BUILD/managed/profiled/profiled.dll"
    check "under dotnet app.dll: the program ends as without the plug-in" $? "$tmp/std"
    [ "$(grep -c 'OnInstrumentationComplete Profiled.Program.Main' "$tmp/out")" = 1 ] &&
        grep -q 'OnShutdown' "$tmp/out"
    check "and the plug-in sees its methods" $? "$tmp/out"
fi
finish
