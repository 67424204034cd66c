#!/bin/bash
# SPDX-License-Identifier: MIT
# runtimes.sh - checks where sxsprof runtimes looks, the order of its list, and that each runtime is listed
# once.
# run: without sanitizers
cd "$(dirname "$0")/../.." || exit 1
. tests/command/common.inc

mkdir -p "$T/root" "$T/home" "$T/path"
export DOTNET_ROOT=$T/root HOME=$T/home PATH=$T/path:$PATH
put() { mkdir -p "$1" && touch "$1/libcoreclr.so"; }
shared=shared/Microsoft.NETCore.App
put "$T/root/$shared/10.0.2"
put "$T/root/$shared/9.0.18"
put "$T/root/$shared/10.0.11"
put "$T/root/$shared/11.0.0-rc.1.2"
put "$T/root/$shared/11.0.0"
put "$T/home/.dotnet/$shared/8.0.29"
put "$T/bin/runtimes/8.0.5"
mkdir -p "$T/root/$shared/7.0.0" "$T/sdk/$shared"
put "$T/sdk/$shared/6.0.1"
printf '#!/bin/sh\n' >"$T/sdk/dotnet" && chmod +x "$T/sdk/dotnet" && ln -s "$T/sdk/dotnet" "$T/path/dotnet"
ln -s "$T/root/$shared/9.0.18" "$T/bin/runtimes/9.0.18"

own_rows() { grep -F "$T" "$1"; }
try "$SXS" runtimes
is "exit status 0" 0 "$status"
is "sorted by version, as numbers; a pre-release precedes its release" \
    "6.0.1 8.0.5 8.0.29 9.0.18 10.0.2 10.0.11 11.0.0-rc.1.2 11.0.0" \
    "$(own_rows "$T/out" | awk '{print $1}' | paste -sd' ')"
is "a runtime found twice is listed once" 1 "$(own_rows "$T/out" | grep -c 9.0.18)"
has "a runtime beside the command has the kind build" "$(own_rows "$T/out" | grep 8.0.5)" "build" "$T/bin/runtimes/8.0.5/libcoreclr.so"
has "a runtime below DOTNET_ROOT has the kind dotnet" "$(own_rows "$T/out" | grep 10.0.11)" "dotnet"
has "a runtime is found through the link on PATH" "$(own_rows "$T/out" | grep 6.0.1)" "$T/sdk/$shared/6.0.1/libcoreclr.so"
lacks "a folder without libcoreclr.so is not listed" "$out" "7.0.0"
try "$SXS" runtimes --format json
is "the JSON has the same runtimes" "6.0.1 8.0.5 8.0.29 9.0.18 10.0.2 10.0.11 11.0.0-rc.1.2 11.0.0" \
    "$(python3 -c 'import json,sys
print(*[r["version"] for r in json.load(sys.stdin)["runtimes"]
        if r["path"].startswith(sys.argv[1]) and sorted(r) == ["kind", "path", "version"]])' "$T" <"$T/out")"
finish
