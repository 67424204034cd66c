# SPDX-License-Identifier: MIT
# Sourced by the scripts that run the dotnet command, with `dir` set to a folder they may write to.
# The command tells nobody, asks nothing and leaves nothing running.
export DOTNET_CLI_TELEMETRY_OPTOUT=1
export DOTNET_NOLOGO=1
export DOTNET_SKIP_FIRST_TIME_EXPERIENCE=1
export DOTNET_GENERATE_ASPNET_CERTIFICATE=false
export DOTNET_CLI_WORKLOAD_UPDATE_NOTIFY_DISABLE=true
export DOTNET_CLI_USE_MSBUILD_SERVER=0
export MSBUILDDISABLENODEREUSE=1
export DOTNET_SYSTEM_GLOBALIZATION_INVARIANT=1

# The build must not run under a profiler that the caller's environment asks for.
unset CORECLR_ENABLE_PROFILING CORECLR_PROFILER CORECLR_PROFILER_PATH CORECLR_PROFILER_PATH_64
unset CORECLR_ENABLE_NOTIFICATION_PROFILERS CORECLR_NOTIFICATION_PROFILERS

# Service accounts and containers often have no home; dotnet and NuGet refuse to run without one.
if [ ! -d "${HOME:-}" ] || [ ! -w "$HOME" ]; then
    export DOTNET_CLI_HOME="$dir/.home" NUGET_PACKAGES="$dir/.home/packages" HOME="$dir/.home"
    mkdir -p "$HOME"
fi
