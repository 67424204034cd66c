#!/bin/bash
# SPDX-License-Identifier: MIT
# precedence.sh - checks that real runtimes load the profiler that sxsprof doctor says they load.
# Each case is tried on the dotnet of PATH and on the runtimes of the build folder, with stand-in profilers
# that write their name to a file and then refuse to load.
# run: without sanitizers
cd "$(dirname "$0")/../.." || exit 1
. tests/command/common.inc
if ! command -v dotnet >/dev/null || ! dotnet --version >/dev/null 2>&1; then
    skip "the doctor agrees with a real runtime" "no .NET SDK here"
    finish
fi
export DOTNET_CLI_TELEMETRY_OPTOUT=1 DOTNET_NOLOGO=1

cat >"$T/probe.c" <<'C'
#include <stdio.h>
#include <stdlib.h>
int DllGetClassObject(void);
int DllGetClassObject(void)
{
    FILE *f = fopen(getenv("PROBE_LOG"), "a");
    if (f) {
        fputs(PROBE_NAME "\n", f);
        fclose(f);
    }
    return (int)0x80040111; /* CLASS_E_CLASSNOTAVAILABLE */
}
C
for name in ours other third; do
    $CC -shared -fPIC -DPROBE_NAME="\"$name\"" "$T/probe.c" -o "$T/$name.so" || exit 1
done
cp "$T/ours.so" "$T/bin/libsxsprof.so"
ours=$T/bin/libsxsprof.so other=$T/other.so third=$T/third.so
clsid='{6B8F5B6E-3C0D-4E0B-9A57-5C1D0F2E7A31}'
foreign='{846F5F1C-F9AE-4B07-969E-05C26BC060D8}'
export PROBE_LOG=$T/log

loaded() { # COMMAND...: prints the stand-in profilers that the command's runtimes asked, each once
    rm -f "$T/log"
    "$@" >/dev/null 2>&1
    sort -u "$T/log" 2>/dev/null | paste -sd, | grep . || echo none
}

# Each host is a command that starts one runtime. The runtimes of the build folder are put where the
# dotnet host looks for them.
hosts=("dotnet --version")
app=$(readlink -f "$BUILD/managed/hello/hello.dll")
for runtime in "$BUILD"/runtimes/*/libhostfxr.so; do
    [ -e "$runtime" ] && [ -e "$app" ] || continue
    from=$(dirname "$(readlink -f "$runtime")")
    version=$(basename "$(dirname "$runtime")")
    mkdir -p "$T/root/host/fxr/$version" "$T/root/shared/Microsoft.NETCore.App"
    cp "$(readlink -f "$(command -v dotnet)")" "$T/root/dotnet"
    cp "$runtime" "$T/root/host/fxr/$version/"
    ln -s "$from" "$T/root/shared/Microsoft.NETCore.App/$version"
    hosts+=("$T/root/dotnet exec --fx-version $version $app")
done

name_of() { grep -o '[0-9][0-9.]*[0-9] ' <<<"$1" || echo "the dotnet on PATH"; }

# check CLAIM LOADED "PART OF THE DOCTOR'S OUTPUT" VARIABLE=VALUE...
check() {
    local claim=$1 want=$2 said=$3
    shift 3
    local host
    for host in "${hosts[@]}"; do
        # shellcheck disable=SC2086 # a host is several words
        is "$claim: $(name_of "$host") loads $want" "$want" "$(loaded env "$@" $host)"
    done
    try env "$@" "$SXS" doctor
    has "$claim: the doctor says so" "$out" "$said"
}
set_all=(CORECLR_ENABLE_PROFILING=1 CORECLR_PROFILER=$clsid CORECLR_PROFILER_PATH="$ours")

check "all variables set" ours "loads $ours, by CORECLR_PROFILER_PATH" "${set_all[@]}"
check "CORECLR_PROFILER_PATH_64 set too" other "CORECLR_PROFILER_PATH: not read" \
    "${set_all[@]}" CORECLR_PROFILER_PATH_64="$other"
check "an empty CORECLR_PROFILER_PATH_64" ours "loads $ours, by CORECLR_PROFILER_PATH" "${set_all[@]}" CORECLR_PROFILER_PATH_64=
check "CORECLR_PROFILER_PATH_64 names a missing file" none "the runtime goes on without a profiler" \
    "${set_all[@]}" CORECLR_PROFILER_PATH_64=/no/such.so
check "CORECLR_PROFILER_PATH_32 set too" ours "CORECLR_PROFILER_PATH_32: not read" \
    "${set_all[@]}" CORECLR_PROFILER_PATH_32="$other"
check "CORECLR_PROFILER_PATH_ARM64 set too" "$([ "$(uname -m)" = aarch64 ] && echo other || echo ours)" "_ARM64" \
    "${set_all[@]}" CORECLR_PROFILER_PATH_ARM64="$other"
check "CORECLR_ENABLE_PROFILING is a word" none "not a hexadecimal number" "${set_all[@]}" CORECLR_ENABLE_PROFILING=true
check "CORECLR_ENABLE_PROFILING is a hexadecimal number" ours "loads $ours" "${set_all[@]}" CORECLR_ENABLE_PROFILING=0xA
check "CORECLR_ENABLE_PROFILING is 0" none "loads no profiler" "${set_all[@]}" CORECLR_ENABLE_PROFILING=0
check "a class ID without braces" none "not a class ID in braces" "${set_all[@]}" CORECLR_PROFILER=${clsid:1:36}
check "COR_ names alone" none "read by .NET Framework alone" \
    COR_ENABLE_PROFILING=1 COR_PROFILER=$clsid COR_PROFILER_PATH="$ours"
check "COR_ names set too" ours "read by .NET Framework alone" \
    "${set_all[@]}" COR_PROFILER=$foreign COR_PROFILER_PATH="$other"
check "diagnostics disabled" none "DOTNET_EnableDiagnostics=0: no runtime" "${set_all[@]}" DOTNET_EnableDiagnostics=0
check "profilers disabled" none "DOTNET_EnableDiagnostics_Profiler=0: no runtime" \
    "${set_all[@]}" DOTNET_EnableDiagnostics_Profiler=0
check "diagnostics disabled by a COMPlus_ variable" none "COMPlus_EnableDiagnostics=0: no runtime" "${set_all[@]}" COMPlus_EnableDiagnostics=0
check "a DOTNET_ variable has precedence over a COMPlus_ variable" ours "loads $ours" \
    "${set_all[@]}" COMPlus_EnableDiagnostics=0 DOTNET_EnableDiagnostics=1
check "PreventLoad" none "no runtime loads a profiler when it starts" \
    "${set_all[@]}" DOTNET_ProfAPI_ProfilerCompatibilitySetting=PreventLoad
notify=(CORECLR_ENABLE_NOTIFICATION_PROFILERS=1)
check "notification profilers beside the main profiler" ours,third "loaded beside the main profiler" \
    "${set_all[@]}" "${notify[@]}" CORECLR_NOTIFICATION_PROFILERS="$third=$foreign;"
check "CORECLR_NOTIFICATION_PROFILERS_64 has precedence" ours,third "CORECLR_NOTIFICATION_PROFILERS: not read" \
    "${set_all[@]}" "${notify[@]}" CORECLR_NOTIFICATION_PROFILERS_64="$third=$foreign;" \
    CORECLR_NOTIFICATION_PROFILERS="$other=$foreign;"
check "notification profilers that are not enabled" ours "PROFILERS is not set" \
    "${set_all[@]}" CORECLR_NOTIFICATION_PROFILERS="$third=$foreign;"
check "notification profilers that are disabled" ours "PROFILERS is off" "${set_all[@]}" \
    CORECLR_NOTIFICATION_PROFILERS="$third=$foreign;" CORECLR_ENABLE_NOTIFICATION_PROFILERS=0

is "sxsprof run has precedence over all variables that are set" ours "$(loaded env CORECLR_ENABLE_PROFILING=0 \
    CORECLR_PROFILER=$foreign CORECLR_PROFILER_PATH="$other" CORECLR_PROFILER_PATH_64="$other" \
    CORECLR_PROFILER_PATH_32="$other" CORECLR_PROFILER_PATH_ARM64="$other" \
    "$SXS" run --quiet -- dotnet --version)"
try "$SXS" run --quiet -- dotnet --version
is "the output of the command is unchanged" "$(dotnet --version)" "$out"
finish
