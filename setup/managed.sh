#!/bin/sh
# SPDX-License-Identifier: MIT
# managed.sh - builds the C# apps of harness/managed/ whose sources are newer than
# DIR/<app>/<app>.dll; silent when none is. Without the dotnet command it does nothing
# (setup/runtimes.sh says what that leaves out). Only an error in the sources is a failure.
# usage: setup/managed.sh [--present] [DIR]        (default: build/managed)
. "$(dirname "$0")/lib.sh"
sources=$(cd "$here/../harness/managed" && pwd)
dir=${1:-$here/../build/managed}

# Files shared by all apps count as sources of each, and an app's as its debug build's.
stale() {
    for project in "$sources"/*/*.csproj; do
        app=$(basename "$project" .csproj)
        is_new "$dir/$app/$app.dll" "$sources/$app" "$sources/${app%debug}" "$sources/common" "$sources"/*.props ||
            printf '%s ' "$app"
    done
}

todo=$(stale)
[ -n "$todo" ] || exit 0
has_dotnet || exit 0 # setup/runtimes.sh has said so
[ -d "$dir" ] || may_fetch "the apps"
open_folder "$dir"
use_dotnet
lock "$dir/.lock"
todo=$(stale)
[ -n "$todo" ] || exit 0

# NuGet's own errors have numbers of their own.
why_not() {
    if grep -Eq 'error NU[0-9]+' "$dir/build.log"; then
        echo "NuGet could not provide the reference assemblies"
    else
        echo "the dotnet command failed"
    fi
}

solution=$dir/apps.slnx
{
    echo '<Solution>'
    for app in $todo; do
        printf '  <Project Path="%s/%s/%s.csproj" />\n' "$sources" "$app" "$app"
    done
    echo '</Solution>'
} >"$solution"

say "building ${todo% }"
if ! dotnet_run "$dir/build.log" build "$solution" --disable-build-servers -nologo -v quiet -clp:NoSummary \
    -p:UseSharedCompilation=false "-p:SxsManagedDir=$dir/" ${present:+"-p:RestoreSources=$dir"}; then
    grep -q 'error CS' "$dir/build.log" && fail_with "$dir/build.log"
    may_fetch "reference assemblies for the apps ${todo% }"
    left_out "${todo% }: $(why_not) (see $dir/build.log); simulated runtimes still work"
fi
rm -f "$dir/build.log" "$solution"
# An unchanged app keeps its old dll; the time of the build is what the next call compares with.
for app in $todo; do
    [ -f "$dir/$app/$app.dll" ] || die "the build left no $dir/$app/$app.dll"
    touch "$dir/$app/$app.dll"
done
