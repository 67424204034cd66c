#!/bin/sh
# SPDX-License-Identifier: MIT
# Builds the C# apps of harness/managed/ whose sources are newer than DIR/<app>/<app>.dll; silent
# when none is. Without the dotnet command it does nothing (setup/runtimes.sh says what that leaves out); when
# that fails for want of a network, one line says so; the status is 0 in both cases; only an error in the sources is a failure.
# usage: setup/managed.sh [DIR]        (default: build/managed)
set -u

here=$(cd "$(dirname "$0")" && pwd)
sources=$(cd "$here/../harness/managed" && pwd)
dir=${1:-$here/../build/managed}

say() { printf 'managed: %s\n' "$*"; }
die() { printf 'managed: %s\n' "$*" >&2; exit 1; }

# Files shared by all apps count as sources of each, and an app's as its debug build's.
is_stale() {
    dll=$dir/$1/$1.dll
    [ ! -f "$dll" ] ||
        find "$sources/$1" "$sources/${1%debug}" "$sources/common" "$sources"/*.props -type f -newer "$dll" | grep -q .
}

stale() {
    for project in "$sources"/*/*.csproj; do
        app=$(basename "$project" .csproj)
        is_stale "$app" && printf '%s ' "$app"
    done
}

todo=$(stale)
[ -n "$todo" ] || exit 0
if ! command -v dotnet >/dev/null 2>&1; then
    exit 0 # setup/runtimes.sh has said so
fi

mkdir -p "$dir" || die "cannot make $dir"
dir=$(cd "$dir" && pwd)
. "$here/dotnet_env.sh"
exec 9>"$dir/.lock"
flock 9 || die "cannot lock $dir/.lock"
todo=$(stale)
[ -n "$todo" ] || exit 0

# NuGet's own errors have numbers of their own.
why_not() {
    if grep -Eq 'error NU[0-9]+' "$log"; then
        echo "NuGet could not provide the reference assemblies"
    else
        echo "the dotnet command failed"
    fi
}

solution=$dir/apps.slnx
log=$dir/build.log
{
    echo '<Solution>'
    for app in $todo; do
        printf '  <Project Path="%s/%s/%s.csproj" />\n' "$sources" "$app" "$app"
    done
    echo '</Solution>'
} >"$solution"

say "building ${todo% }"
if ! dotnet build "$solution" --disable-build-servers -nologo -v quiet -clp:NoSummary \
    -p:UseSharedCompilation=false "-p:SxsManagedDir=$dir/" >"$log" 2>&1 9>&- </dev/null; then
    if grep -q 'error CS' "$log"; then
        cat "$log" >&2
        die "the build failed"
    fi
    say "left out ${todo% }: $(why_not) (see $log); simulated runtimes still work"
    exit 0
fi
rm -f "$log" "$solution"
# An unchanged app keeps its old dll; the time of the build is what the next call compares with.
for app in $todo; do
    [ -f "$dir/$app/$app.dll" ] || die "the build left no $dir/$app/$app.dll"
    touch "$dir/$app/$app.dll"
done
