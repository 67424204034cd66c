#!/bin/sh
# SPDX-License-Identifier: MIT
# Builds tests/bench/cecil, with which `make bench` compares the IL library, into DIR/cecil; silent when it is there.
# Mono.Cecil comes through NuGet. When it cannot be had, one line says what is left out, and the status is 0.
# usage: setup/cecil.sh [DIR]        (default: build/tools)
set -u
here=$(cd "$(dirname "$0")" && pwd)
dir=${1:-$here/../build/tools}

say() { printf 'cecil: %s\n' "$*"; }

[ ! -f "$dir/cecil/cecil.dll" ] || exit 0
command -v dotnet >/dev/null 2>&1 || exit 0 # setup/dotnet_trace.sh has said so
mkdir -p "$dir/.cecil" || exit 1
dir=$(cd "$dir" && pwd)
. "$here/dotnet_env.sh"
say "building the comparison with Mono.Cecil"
cp "$here"/../tests/bench/cecil/* "$dir/.cecil/" || exit 1
echo '<Project />' >"$dir/.cecil/Directory.Build.props"
echo '<Project />' >"$dir/.cecil/Directory.Build.targets"
if ! (cd "$dir/.cecil" && dotnet build cecil.csproj -c Release -o "$dir/cecil" --disable-build-servers) \
    >"$dir/.cecil/build.log" 2>&1 </dev/null || [ ! -f "$dir/cecil/cecil.dll" ]; then
    rm -rf "$dir/cecil"
    say "left out the comparison with Mono.Cecil: it could not be built (see $dir/.cecil/build.log)"
fi
exit 0
