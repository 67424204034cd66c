#!/bin/sh
# SPDX-License-Identifier: MIT
# Gets the .NET runtimes of setup/runtimes.tsv through NuGet, each into one flat folder
# DIR/<version>/. What is there is not fetched again. Without the dotnet command, or when NuGet
# cannot be reached, one line says what is left out, and the status is 0: callers go on with
# simulated runtimes.
# usage: setup/runtimes.sh [DIR]        (default: build/runtimes)
set -u

here=$(cd "$(dirname "$0")" && pwd)
dir=${1:-$here/../build/runtimes}

say() { printf 'runtimes: %s\n' "$*"; }
die() { printf 'runtimes: %s\n' "$*" >&2; exit 1; }

is_there() { [ -f "$dir/$1/libcoreclr.so" ]; }

missing() {
    sed 's/#.*//' "$here/runtimes.tsv" | while read -r version package; do
        [ -n "$version" ] && ! is_there "$version" && printf '%s\t%s\n' "$version" "$package"
    done
}

todo=$(missing)
[ -n "$todo" ] || exit 0
names=$(printf '%s\n' "$todo" | cut -f1 | tr '\n' ' ' | sed 's/ $//')
if [ "$(uname -m)" != x86_64 ]; then
    say "left out .NET $names: only x86_64 is known here"
    exit 0
fi
if ! command -v dotnet >/dev/null 2>&1; then
    say "left out .NET $names: no dotnet command here, so no real runtimes and no apps for them; simulated ones take their place"
    exit 0
fi

mkdir -p "$dir" || die "cannot make $dir"
dir=$(cd "$dir" && pwd)
. "$here/dotnet_env.sh"
. "$here/nuget_package.sh"
work=$dir/.fetch

# Two callers at once would unpack into the same folder: the second waits, and finds all there.
exec 9>"$dir/.lock"
flock 9 || die "cannot lock $dir/.lock"
todo=$(missing)
[ -n "$todo" ] || exit 0

restore() { # version package
    rm -rf "$work"
    restore_package "$work" "$2" "$1" --no-http-cache >"$dir/fetch.log" 2>&1
}

# NuGet lowers the name of the package. A folder gets its final name only when it is whole.
unpack() {
    package=$work/packages/$(printf '%s' "$2" | tr '[:upper:]' '[:lower:]')/$1
    mkdir "$work/flat" &&
        mv "$package"/runtimes/linux-x64/native/* "$work/flat/" &&
        mv "$package"/runtimes/linux-x64/lib/net*/* "$work/flat/" &&
        [ -f "$work/flat/libcoreclr.so" ] && [ -f "$work/flat/System.Private.CoreLib.dll" ] &&
        rm -rf "${dir:?}/$1" && mv "$work/flat" "$dir/$1"
}

printf '%s\n' "$todo" | {
    left=$names
    while read -r version package; do
        say "fetching .NET $version through NuGet"
        if ! { restore "$version" "$package" &&
            unpack "$version" "$package" >>"$dir/fetch.log" 2>&1; }; then
            say "left out .NET $left: NuGet could not provide $version (see $dir/fetch.log);" \
                "simulated runtimes still work"
            break
        fi
        say ".NET $version is in $dir/$version"
        left=${left#"$version"}
        left=${left# }
        rm -f "$dir/fetch.log"
    done
    rm -rf "$work"
}
