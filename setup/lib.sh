# SPDX-License-Identifier: MIT
# Sourced by the scripts of this folder: messages, versions, and the dotnet command.
#
# What cannot be fetched is said in one line, and the script's status is 0: tests and demo go on
# without it.
#
# A script whose first argument is --present fetches nothing. It builds what it can from what is on this
# machine. What it would have to fetch is one line "NAME: lacks WHAT", and the status is 0.
set -u
present=
[ "${1:-}" != --present ] || { present=1; shift; }
name=$(basename "$0" .sh)
here=$(cd "$(dirname "$0")" && pwd)

say() { printf '%s: %s\n' "$name" "$*"; }
die() { printf '%s: %s\n' "$name" "$*" >&2; exit 1; }
left_out() { say "left out $*"; exit 0; }
# may_fetch WHAT: returns without --present; with it, says that WHAT is missing, and ends the script
may_fetch() { [ -z "$present" ] || { say "lacks $*"; exit 0; }; }
fail_with() { cat "$1" >&2; exit 1; } # LOG

# versions WHAT: the rows of versions.tsv, VERSION tab PACKAGE
versions() { awk -F'\t' -v what="$1" '$1 == what { print $2 "\t" $3 }' "$here/versions.tsv"; }
# version WHAT [PACKAGE]: that of the first such row
version() { versions "$1" | awk -F'\t' -v package="${2:-}" 'package == "" || $2 == package { print $1; exit }'; }

has_dotnet() { command -v dotnet >/dev/null 2>&1; }

# is_new RESULT SOURCE...: the result exists, and no file of the sources is newer
is_new() {
    result=$1
    shift
    [ -e "$result" ] && ! find "$@" -type f -newer "$result" | grep -q .
}

# open_folder DIR: makes it, and `dir` its absolute path
open_folder() {
    mkdir -p "$1" || die "cannot make $1"
    dir=$(cd "$1" && pwd)
}

# lock FILE: two callers at once would write the same files: the second waits, and finds all done
lock() {
    exec 9>"$1"
    flock 9 || die "cannot lock $1"
}

# use_dotnet: before the first call of the dotnet command; `dir` is a folder that may be written to.
# The command tells nobody, asks nothing and leaves nothing running.
use_dotnet() {
    export DOTNET_CLI_TELEMETRY_OPTOUT=1 DOTNET_NOLOGO=1 DOTNET_SKIP_FIRST_TIME_EXPERIENCE=1
    export DOTNET_GENERATE_ASPNET_CERTIFICATE=false DOTNET_CLI_WORKLOAD_UPDATE_NOTIFY_DISABLE=true
    export DOTNET_CLI_USE_MSBUILD_SERVER=0 MSBUILDDISABLENODEREUSE=1
    export DOTNET_SYSTEM_GLOBALIZATION_INVARIANT=1
    # The build must not run under a profiler that the caller's environment asks for.
    unset CORECLR_ENABLE_PROFILING CORECLR_PROFILER CORECLR_PROFILER_PATH CORECLR_PROFILER_PATH_64
    unset CORECLR_ENABLE_NOTIFICATION_PROFILERS CORECLR_NOTIFICATION_PROFILERS
    # Service accounts and containers often have no home; dotnet and NuGet refuse to run without one.
    if [ ! -d "${HOME:-}" ] || [ ! -w "$HOME" ]; then
        export DOTNET_CLI_HOME="$dir/.home" NUGET_PACKAGES="$dir/.home/packages" HOME="$dir/.home"
        mkdir -p "$HOME"
    fi
}

# dotnet_run LOG ARGUMENT...: the dotnet command, with nothing left running
dotnet_run() {
    log=$1
    shift
    dotnet "$@" >"$log" 2>&1 9>&- </dev/null
}

# own_project DIR: files above must not have their say in its projects
own_project() {
    echo '<Project />' >"$1/Directory.Build.props" && echo '<Project />' >"$1/Directory.Build.targets"
}

# restore_package WORK PACKAGE VERSION LOG [OPTION...]: into WORK/packages. A project without code or
# references: NuGet downloads the package it names, and that is all.
restore_package() {
    work=$1 package=$2 version=$3 log=$4
    shift 4
    mkdir -p "$work" || return 1
    cat >"$work/fetch.csproj" <<PROJECT
<Project Sdk="Microsoft.NET.Sdk">
  <PropertyGroup>
    <TargetFramework>netstandard2.0</TargetFramework>
    <DisableImplicitFrameworkReferences>true</DisableImplicitFrameworkReferences>
    <RestorePackagesPath>$work/packages</RestorePackagesPath>
    <NuGetAudit>false</NuGetAudit>
  </PropertyGroup>
  <ItemGroup>
    <PackageDownload Include="$package" Version="[$version]" />
  </ItemGroup>
</Project>
PROJECT
    own_project "$work" && (cd "$work" && dotnet_run "$log" restore fetch.csproj --disable-build-servers "$@")
}

lacks() { echo "$*" >&2; exit 1; }

# modules_of WHAT: the rows of versions.tsv as npm has them, PACKAGE@VERSION
modules_of() { versions "$1" | awk -F'\t' '{ print $2 "@" $1 }'; }

# npm_modules WHAT DIR: installs the rows of versions.tsv into a folder, and prints that of the modules
npm_modules() {
    wanted=$(modules_of "$1") dir=$2
    if [ "$(cat "$dir/.installed" 2>/dev/null)" != "$wanted" ]; then
        [ -z "$present" ] || lacks "no" $wanted "here; get them by: make setup"
        command -v npm >/dev/null 2>&1 || lacks "no npm here"
        open_folder "$dir"
        # Two callers at once would install into the same folder: the second waits, and finds all there.
        # shellcheck disable=SC2086
        (cd "$dir" && exec 9>.lock && flock 9 && [ "$(cat .installed 2>/dev/null)" != "$wanted" ] &&
            echo '{ "private": true }' >package.json &&
            npm install --no-audit --no-fund --save-exact $wanted >npm.log 2>&1 && printf '%s\n' "$wanted" >.installed)
        [ "$(cat "$dir/.installed" 2>/dev/null)" = "$wanted" ] || lacks "npm could not install" $wanted
    fi
    cd "$dir/node_modules" && pwd
}
