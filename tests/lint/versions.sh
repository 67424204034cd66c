#!/bin/sh
# SPDX-License-Identifier: MIT
# versions.sh - checks that versions of what is fetched are in setup/versions.tsv alone. Prints the
# lines of scripts and projects that have one; status 1 if there are any.
set -u
cd "$(dirname "$0")/../.." || exit 1
found=$(find setup tests/bench harness -name '*.sh' -o -name '*.csproj' -o -name '*.props' -o -name package.json |
    sort | xargs grep -nE '((^|[^A-Za-z])[Vv]ersion=|Version="\[?|(precompile|install|fetch) .*)[0-9]+\.[0-9]+\.[0-9]+' /dev/null)
[ -z "$found" ] || { printf '%s\n' "$found"; exit 1; }
