#!/bin/sh
# SPDX-License-Identifier: MIT
# cecil.sh - builds tests/bench/cecil, with which `make bench` compares the IL library, into
# DIR/cecil; silent when it is there. Mono.Cecil comes through NuGet.
# usage: setup/cecil.sh [--present] [DIR]        (default: build/tools)
. "$(dirname "$0")/lib.sh"
dir=${1:-$here/../build/tools}

[ ! -f "$dir/cecil/cecil.dll" ] || exit 0
has_dotnet || exit 0 # setup/dotnet_trace.sh has said so
may_fetch "Mono.Cecil"
open_folder "$dir"
mkdir -p "$dir/.cecil" || exit 1
use_dotnet
say "building the comparison with Mono.Cecil"
cp "$here"/../tests/bench/cecil/* "$dir/.cecil/" && own_project "$dir/.cecil" || exit 1
if ! (cd "$dir/.cecil" && dotnet_run "$dir/.cecil/build.log" build cecil.csproj -c Release -o "$dir/cecil" \
    --disable-build-servers "-p:CecilVersion=$(version cecil)") || [ ! -f "$dir/cecil/cecil.dll" ]; then
    rm -rf "$dir/cecil"
    left_out "the comparison with Mono.Cecil: it could not be built (see $dir/.cecil/build.log)"
fi
