#!/bin/sh
# SPDX-License-Identifier: MIT
# crossgen.sh - precompiles DIR/instrumented/instrumented.dll for each runtime of RUNTIMES
# (ReadyToRun) to DIR/precompiled/VERSION/instrumented.dll, each when it is older; silent when none
# is. An image is good for one major version: each has a compiler of its own, from NuGet.
# usage: setup/crossgen.sh [--present] [DIR [RUNTIMES]]     (default: build/managed build/runtimes)
. "$(dirname "$0")/lib.sh"
dir=${1:-$here/../build/managed}
runtimes=${2:-$here/../build/runtimes}

app=$dir/instrumented/instrumented.dll
has_dotnet && [ -f "$app" ] || exit 0 # setup/runtimes.sh, setup/managed.sh have said so
stale() {
    for v in "$runtimes"/*/; do
        v=$(basename "$v")
        [ -f "$runtimes/$v/libcoreclr.so" ] && [ ! "$dir/precompiled/$v/instrumented.dll" -nt "$app" ] && echo "$v"
    done
}
[ -n "$(stale)" ] || exit 0
open_folder "$dir"
app=$dir/instrumented/instrumented.dll
runtimes=$(cd "$runtimes" && pwd)
use_dotnet
lock "$dir/.crossgen.lock"

precompile() { # RUNTIME COMPILER'S-VERSION COMPILER'S-PACKAGE
    at=$dir/.crossgen/$2
    tools=$at/packages/$3/$2/tools
    if [ ! -f "$tools/crossgen2" ]; then
        [ -z "$present" ] || { say "lacks crossgen2 $2"; return; }
        say "fetching the compiler $2 through NuGet"
        mkdir -p "$at" || exit 1
        if ! restore_package "$at" "$3" "$2" "$at/fetch.log" || [ ! -f "$tools/crossgen2" ]; then
            say "left out the precompiled app for $1: NuGet could not provide the compiler (see $at/fetch.log)"
            return
        fi
        chmod +x "$tools/crossgen2"
    fi
    mkdir -p "$dir/precompiled/$1" || exit 1
    "$tools/crossgen2" "$app" -o "$at/new.dll" -r "$runtimes/$1/*.dll" --targetos linux --targetarch x64 -O \
        >"$at/compile.log" 2>&1 || fail_with "$at/compile.log"
    cp "$dir"/instrumented/*.json "$dir/precompiled/$1/" &&
        mv "$at/new.dll" "$dir/precompiled/$1/instrumented.dll" || exit 1
}
for v in $(stale); do
    # shellcheck disable=SC2046
    set -- $(versions crossgen | awk -v major="${v%%.*}" '{ split($1, part, ".") } part[1] == major')
    [ $# -eq 0 ] || precompile "$v" "$@"
done
