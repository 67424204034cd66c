#!/bin/sh
# SPDX-License-Identifier: MIT
# native_aot.sh - builds the NativeAOT library of harness/native_aot/ to DIR/native_aot.so when its
# sources are newer; silent when they are not.
# usage: setup/native_aot.sh [--present] [DIR]     (default: build/native_aot)
. "$(dirname "$0")/lib.sh"
sources=$(cd "$here/../harness/native_aot" && pwd)
dir=${1:-$here/../build/native_aot}

is_new "$dir/native_aot.so" "$sources" && exit 0
has_dotnet || exit 0 # setup/runtimes.sh has said so
[ -d "$dir" ] || may_fetch "the NativeAOT library"
open_folder "$dir"
mkdir -p "$dir/project" && cp "$sources"/* "$dir/project/" || exit 1
use_dotnet
say "building$([ -n "$present" ] || echo " (fetches the compiler through NuGet the first time)")"
if ! dotnet_run "$dir/build.log" publish "$dir/project/native_aot.csproj" -c Release -o "$dir/out" --disable-build-servers \
    -nologo -v quiet -p:UseSharedCompilation=false -p:StripSymbols=false ${present:+"-p:RestoreSources=$dir"}; then
    grep -q 'error CS' "$dir/build.log" && fail_with "$dir/build.log"
    may_fetch "the compiler of the NativeAOT library"
    left_out "the library: its compiler could not be had (see $dir/build.log)"
fi
mv "$dir/out/native_aot.so" "$dir/native_aot.so" && touch "$dir/native_aot.so" &&
    rm -rf "$dir/out" "$dir/project" "$dir/build.log"
