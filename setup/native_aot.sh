#!/bin/sh
# SPDX-License-Identifier: MIT
# Builds the NativeAOT library of harness/native_aot/ to DIR/native_aot.so when its sources are newer;
# silent when they are not. What cannot be had is said in one line, with status 0.
# usage: setup/native_aot.sh [DIR]     (default: build/native_aot)
set -u
here=$(cd "$(dirname "$0")" && pwd)
sources=$(cd "$here/../harness/native_aot" && pwd)
dir=${1:-$here/../build/native_aot}
lib=$dir/native_aot.so

say() { printf 'native_aot: %s\n' "$*"; }

if [ -f "$lib" ] && ! find "$sources" -type f -newer "$lib" | grep -q .; then
    exit 0
fi
if ! command -v dotnet >/dev/null 2>&1; then
    exit 0 # setup/runtimes.sh has said so
fi
mkdir -p "$dir/project" || exit 1
dir=$(cd "$dir" && pwd)
cp "$sources"/* "$dir/project/" || exit 1
. "$here/dotnet_env.sh"
say "building (fetches the compiler through NuGet the first time)"
if ! dotnet publish "$dir/project/native_aot.csproj" -c Release -o "$dir/out" --disable-build-servers \
    -nologo -v quiet -p:UseSharedCompilation=false -p:StripSymbols=false >"$dir/build.log" 2>&1 </dev/null; then
    if grep -q 'error CS' "$dir/build.log"; then
        cat "$dir/build.log" >&2
        exit 1
    fi
    say "left out: the compiler could not be had (see $dir/build.log)"
    exit 0
fi
mv "$dir/out/native_aot.so" "$lib" && touch "$lib" && rm -rf "$dir/out" "$dir/project" "$dir/build.log"
