#!/bin/sh
# SPDX-License-Identifier: MIT
# aspnet.sh - gets ASP.NET Core for the runtimes of setup/versions.tsv through NuGet, each into one flat
# folder DIR/<version>/. What is there is not fetched again.
# usage: setup/aspnet.sh [--present] [DIR]        (default: build/aspnet)
. "$(dirname "$0")/lib.sh"
dir=${1:-$here/../build/aspnet}

whole() { [ -f "$1/Microsoft.AspNetCore.Server.Kestrel.Core.dll" ]; }
missing() {
    versions aspnet | while read -r version package; do
        whole "$dir/$version" || printf '%s\t%s\n' "$version" "$package"
    done
}

[ -n "$(missing)" ] || exit 0
has_dotnet && [ "$(uname -m)" = x86_64 ] || exit 0 # setup/runtimes.sh has said so
may_fetch "ASP.NET Core $(missing | cut -f1 | paste -s -d ' ')"
open_folder "$dir"
use_dotnet
lock "$dir/.lock"

# NuGet lowers the name of the package. A folder gets its final name only when it is whole.
unpack() { # VERSION PACKAGE
    package=$fetched/packages/$(printf '%s' "$2" | tr '[:upper:]' '[:lower:]')/$1
    mkdir "$fetched/flat" && mv "$package"/runtimes/linux-x64/lib/net*/*.dll "$fetched/flat/" &&
        whole "$fetched/flat" && rm -rf "${dir:?}/$1" && mv "$fetched/flat" "$dir/$1"
}

fetched=$dir/.fetch
missing | while read -r version package; do
    say "fetching ASP.NET Core $version through NuGet"
    rm -rf "$fetched"
    if ! restore_package "$fetched" "$package" "$version" "$dir/fetch.log" --no-http-cache ||
        ! unpack "$version" "$package" >>"$dir/fetch.log" 2>&1; then
        say "left out ASP.NET Core $version: NuGet could not provide it (see $dir/fetch.log); tests that need it are skipped"
        break
    fi
    rm -f "$dir/fetch.log"
done
rm -rf "$fetched"
