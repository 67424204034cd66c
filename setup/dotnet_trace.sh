#!/bin/sh
# SPDX-License-Identifier: MIT
# Installs dotnet-trace, with which `make bench` compares and which a host of the tests has attached, through NuGet into DIR; silent when it is
# there. When it cannot be had, one line says what is left out, and the status is 0.
# usage: setup/dotnet_trace.sh [DIR]        (default: build/tools)
set -u
here=$(cd "$(dirname "$0")" && pwd)
dir=${1:-$here/../build/tools}
version=10.0.750501

say() { printf 'dotnet_trace: %s\n' "$*"; }

[ ! -x "$dir/dotnet-trace" ] || exit 0
if ! command -v dotnet >/dev/null 2>&1; then
    say "left out dotnet-trace: no dotnet command here"
    exit 0
fi
mkdir -p "$dir" || exit 1
. "$here/dotnet_env.sh"
say "fetching dotnet-trace $version through NuGet"
if ! dotnet tool install dotnet-trace --version "$version" --tool-path "$dir" \
    >"$dir/install.log" 2>&1 </dev/null || ! [ -x "$dir/dotnet-trace" ]; then
    say "left out dotnet-trace: NuGet could not provide it (see $dir/install.log)"
    exit 0
fi
rm -f "$dir/install.log"
