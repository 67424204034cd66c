#!/bin/sh
# SPDX-License-Identifier: MIT
# ilasm.sh - assembles harness/managed/calls/tail.il to DIR/calls/tail.dll and tests/instr/odd.il to
# DIR/odd/odd.dll, each when it is newer; silent when none is. DIR/odd/ilasm is the assembler, which
# comes through NuGet.
# usage: setup/ilasm.sh [--present] [DIR]     (default: build/managed)
. "$(dirname "$0")/lib.sh"
source=$(cd "$here/../harness/managed/calls" && pwd)/tail.il
odd=$(cd "$here/../tests/instr" && pwd)/odd.il
dir=${1:-$here/../build/managed}

is_new "$dir/calls/tail.dll" "$source" && is_new "$dir/odd/odd.dll" "$odd" && exit 0
has_dotnet && [ -d "$dir/calls" ] || exit 0 # setup/runtimes.sh, setup/managed.sh have said so
open_folder "$dir"
use_dotnet
at=$dir/.ilasm
version=$(version ilasm)
package=$(versions ilasm | cut -f2)
ilasm=$at/packages/$package/$version/runtimes/linux-x64/native/ilasm
lock "$dir/.ilasm.lock"

if [ ! -f "$ilasm" ]; then
    may_fetch "the IL assembler"
    say "fetching the IL assembler through NuGet"
    mkdir -p "$at" || exit 1
    restore_package "$at" "$package" "$version" "$at/fetch.log" && [ -f "$ilasm" ] ||
        left_out "tail.dll and odd.dll: NuGet could not provide the IL assembler (see $at/fetch.log)"
fi
chmod +x "$ilasm"
mkdir -p "$dir/odd" && ln -sf "$ilasm" "$dir/odd/ilasm" || exit 1

assemble() { # FILE OUTPUT
    "$ilasm" -dll -quiet "-output=$at/new.dll" "$1" >"$at/ilasm.log" 2>&1 || fail_with "$at/ilasm.log"
    mv "$at/new.dll" "$2" && touch "$2"
}
assemble "$source" "$dir/calls/tail.dll"
python3 "$(dirname "$odd")/expand.py" "$odd" >"$dir/odd/odd.il" && assemble "$dir/odd/odd.il" "$dir/odd/odd.dll"
