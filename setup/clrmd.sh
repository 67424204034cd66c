#!/bin/sh
# SPDX-License-Identifier: MIT
# clrmd.sh - builds tests/clrmd, which reads heaps from core dumps to compare them with heap snapshots, into
# DIR/clrmd; silent when it is there. ClrMD (Microsoft.Diagnostics.Runtime) comes through NuGet.
# usage: setup/clrmd.sh [--present] [DIR]        (default: build/tools)
. "$(dirname "$0")/lib.sh"
dir=${1:-$here/../build/tools}

! is_new "$dir/clrmd/clrmd.dll" "$here/../tests/clrmd" || exit 0
has_dotnet || left_out "the comparison with ClrMD: no dotnet command here"
[ -d "$dir/.clrmd" ] || may_fetch "ClrMD"
open_folder "$dir"
mkdir -p "$dir/.clrmd" || exit 1
use_dotnet
say "building the comparison with ClrMD"
cp "$here"/../tests/clrmd/*.cs* "$dir/.clrmd/" && own_project "$dir/.clrmd" || exit 1
if ! (cd "$dir/.clrmd" && dotnet_run "$dir/.clrmd/build.log" build clrmd.csproj -c Release -o "$dir/clrmd" \
    --disable-build-servers "-p:ClrmdVersion=$(version clrmd)" ${present:+"-p:RestoreSources=$dir"}) || [ ! -f "$dir/clrmd/clrmd.dll" ]; then
    rm -rf "$dir/clrmd"
    may_fetch "ClrMD"
    left_out "the comparison with ClrMD: it could not be built (see $dir/.clrmd/build.log)"
fi
