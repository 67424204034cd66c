#!/bin/sh
# SPDX-License-Identifier: MIT
# runtimes.sh - gets the .NET runtimes of setup/versions.tsv through NuGet, each into one flat folder
# DIR/<version>/. What is there is not fetched again.
# usage: setup/runtimes.sh [--present] [DIR]        (default: build/runtimes)
. "$(dirname "$0")/lib.sh"
dir=${1:-$here/../build/runtimes}

missing() {
    versions runtime | while read -r version package; do
        [ -f "$dir/$version/libcoreclr.so" ] || printf '%s\t%s\n' "$version" "$package"
    done
}

todo=$(missing)
[ -n "$todo" ] || exit 0
names=$(printf '%s\n' "$todo" | cut -f1 | paste -s -d ' ')
[ "$(uname -m)" = x86_64 ] || left_out ".NET $names: only x86_64 is known here"
has_dotnet ||
    left_out ".NET $names: no dotnet command here, so no real runtimes and no apps for them; simulated ones take their place"
may_fetch ".NET $names"
open_folder "$dir"
use_dotnet
fetched=$dir/.fetch
lock "$dir/.lock"
todo=$(missing)
[ -n "$todo" ] || exit 0

# NuGet lowers the name of the package. A folder gets its final name only when it is whole.
unpack() { # VERSION PACKAGE
    package=$fetched/packages/$(printf '%s' "$2" | tr '[:upper:]' '[:lower:]')/$1
    mkdir "$fetched/flat" &&
        mv "$package"/runtimes/linux-x64/native/* "$fetched/flat/" &&
        mv "$package"/runtimes/linux-x64/lib/net*/* "$fetched/flat/" &&
        [ -f "$fetched/flat/libcoreclr.so" ] && [ -f "$fetched/flat/System.Private.CoreLib.dll" ] &&
        rm -rf "${dir:?}/$1" && mv "$fetched/flat" "$dir/$1"
}

fetch() { # VERSION PACKAGE
    rm -rf "$fetched"
    restore_package "$fetched" "$2" "$1" "$dir/fetch.log" --no-http-cache && unpack "$1" "$2" >>"$dir/fetch.log" 2>&1
}

printf '%s\n' "$todo" | {
    left=$names
    while read -r version package; do
        say "fetching .NET $version through NuGet"
        if ! fetch "$version" "$package"; then
            say "left out .NET $left: NuGet could not provide $version (see $dir/fetch.log); simulated runtimes still work"
            break
        fi
        say ".NET $version is in $dir/$version"
        left=${left#"$version"}
        left=${left# }
        rm -f "$dir/fetch.log"
    done
    rm -rf "$fetched"
}
