#!/bin/sh
# SPDX-License-Identifier: MIT
# Precompiles DIR/instrumented/instrumented.dll for each runtime of RUNTIMES (ReadyToRun) to
# DIR/precompiled/VERSION/instrumented.dll, each when it is older; silent when none is. An image is good for one major
# version: each has a compiler of its own, which comes through NuGet. What cannot be had is said in one line, with status 0.
# usage: setup/crossgen.sh [DIR [RUNTIMES]]     (default: build/managed build/runtimes)
set -u
here=$(cd "$(dirname "$0")" && pwd)
dir=${1:-$here/../build/managed}
runtimes=${2:-$here/../build/runtimes}
package=microsoft.netcore.app.crossgen2.linux-x64

say() { printf 'crossgen: %s\n' "$*"; }

app=$dir/instrumented/instrumented.dll
if ! command -v dotnet >/dev/null 2>&1 || [ ! -f "$app" ]; then
    exit 0 # setup/runtimes.sh, setup/managed.sh have said so
fi
stale() {
    for v in "$runtimes"/*/; do
        v=$(basename "$v")
        [ -f "$runtimes/$v/libcoreclr.so" ] && [ ! "$dir/precompiled/$v/instrumented.dll" -nt "$app" ] && echo "$v"
    done
}
[ -n "$(stale)" ] || exit 0
dir=$(cd "$dir" && pwd)
app=$dir/instrumented/instrumented.dll
runtimes=$(cd "$runtimes" && pwd)
. "$here/dotnet_env.sh"
. "$here/nuget_package.sh"
exec 9>"$dir/.crossgen.lock"
flock 9 || exit 1

precompile() { # RUNTIME, PACKAGE'S VERSION
    at=$dir/.crossgen/$2
    tools=$at/packages/$package/$2/tools
    if [ ! -f "$tools/crossgen2" ]; then
        say "fetching the compiler $2 through NuGet"
        mkdir -p "$at" || exit 1
        if ! restore_package "$at" "$package" "$2" >"$at/fetch.log" 2>&1 || [ ! -f "$tools/crossgen2" ]; then
            say "left out the precompiled app for $1: NuGet could not provide the compiler (see $at/fetch.log)"
            return
        fi
        chmod +x "$tools/crossgen2"
    fi
    mkdir -p "$dir/precompiled/$1" || exit 1
    if ! "$tools/crossgen2" "$app" -o "$at/new.dll" -r "$runtimes/$1/*.dll" --targetos linux --targetarch x64 -O \
        >"$at/compile.log" 2>&1; then
        cat "$at/compile.log" >&2
        exit 1
    fi
    cp "$dir"/instrumented/*.json "$dir/precompiled/$1/" &&
        mv "$at/new.dll" "$dir/precompiled/$1/instrumented.dll" || exit 1
}
for v in $(stale); do
    case $v in
    8.*) precompile "$v" 8.0.30 ;;
    9.*) precompile "$v" 9.0.19 ;;
    10.*) precompile "$v" 10.0.12 ;;
    esac
done
