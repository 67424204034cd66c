#!/bin/sh
# SPDX-License-Identifier: MIT
# dotnet_trace.sh - installs dotnet-trace through NuGet into DIR; silent when it is there. `make
# bench` compares with it, and a host of the tests has it attached.
# usage: setup/dotnet_trace.sh [--present] [DIR]        (default: build/tools)
. "$(dirname "$0")/lib.sh"
dir=${1:-$here/../build/tools}
version=$(version tool dotnet-trace)

[ ! -x "$dir/dotnet-trace" ] || exit 0
has_dotnet || left_out "dotnet-trace: no dotnet command here"
may_fetch "dotnet-trace $version"
open_folder "$dir"
use_dotnet
say "fetching dotnet-trace $version through NuGet"
dotnet_run "$dir/install.log" tool install dotnet-trace --version "$version" --tool-path "$dir" && [ -x "$dir/dotnet-trace" ] ||
    left_out "dotnet-trace: NuGet could not provide it (see $dir/install.log)"
rm -f "$dir/install.log"
