#!/bin/sh
# SPDX-License-Identifier: MIT
# Assembles harness/managed/calls/tail.il to DIR/calls/tail.dll and tests/instr/odd.il to DIR/odd/odd.dll, each
# when it is newer; silent when none is. DIR/odd/ilasm is the assembler.
# The assembler comes through NuGet. What cannot be had is said in one line, with status 0.
# usage: setup/ilasm.sh [DIR]     (default: build/managed)
set -u
here=$(cd "$(dirname "$0")" && pwd)
source=$(cd "$here/../harness/managed/calls" && pwd)/tail.il
odd=$(cd "$here/../tests/instr" && pwd)/odd.il
dir=${1:-$here/../build/managed}
package=runtime.linux-x64.microsoft.netcore.ilasm
version=9.0.19

say() { printf 'ilasm: %s\n' "$*"; }

[ -f "$dir/calls/tail.dll" ] && [ ! "$source" -nt "$dir/calls/tail.dll" ] &&
    [ -f "$dir/odd/odd.dll" ] && [ ! "$odd" -nt "$dir/odd/odd.dll" ] && exit 0
if ! command -v dotnet >/dev/null 2>&1 || [ ! -d "$dir/calls" ]; then
    exit 0 # setup/runtimes.sh, setup/managed.sh have said so
fi
dir=$(cd "$dir" && pwd)
. "$here/dotnet_env.sh"
. "$here/nuget_package.sh"
work=$dir/.ilasm
ilasm=$work/packages/$package/$version/runtimes/linux-x64/native/ilasm
exec 9>"$dir/.ilasm.lock"
flock 9 || exit 1

if [ ! -f "$ilasm" ]; then
    say "fetching the IL assembler through NuGet"
    mkdir -p "$work" || exit 1
    if ! restore_package "$work" "$package" "$version" >"$work/fetch.log" 2>&1 || [ ! -f "$ilasm" ]; then
        say "left out tail.dll and odd.dll: NuGet could not provide the IL assembler (see $work/fetch.log)"
        exit 0
    fi
fi
chmod +x "$ilasm"
mkdir -p "$dir/odd" && ln -sf "$ilasm" "$dir/odd/ilasm" || exit 1

assemble() { # FILE OUTPUT
    if ! "$ilasm" -dll -quiet "-output=$work/new.dll" "$1" >"$work/ilasm.log" 2>&1; then
        cat "$work/ilasm.log" >&2
        exit 1
    fi
    mv "$work/new.dll" "$2" && touch "$2"
}
assemble "$source" "$dir/calls/tail.dll"
python3 "$(dirname "$odd")/expand.py" "$odd" >"$dir/odd/odd.il" && assemble "$dir/odd/odd.il" "$dir/odd/odd.dll"
