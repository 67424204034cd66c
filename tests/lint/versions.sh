#!/bin/sh
# SPDX-License-Identifier: MIT
# versions.sh - checks that versions of what is fetched are in setup/versions.tsv alone. Prints the lines of
# scripts and projects that have one, and the lines of tests of real runtimes that name the version of one of
# these runtimes; status 1 if there are any. Texts that tests of the command make up are not among them.
set -u
cd "$(dirname "$0")/../.." || exit 1
found=$(find setup tests/bench harness -name '*.sh' -o -name '*.csproj' -o -name '*.props' -o -name package.json |
    sort | xargs grep -nE '((^|[^A-Za-z])[Vv]ersion=|Version="\[?|(precompile|install|fetch) .*)[0-9]+\.[0-9]+\.[0-9]+' /dev/null)
runtimes=$(awk -F'\t' '$1 == "runtime" { gsub(/\./, "\\.", $2); print $2 }' setup/versions.tsv | paste -s -d '|')
named=$(find tests/integration tests/guests tests/clrie tests/hosts tests/soak tests/soak.sh tests/bench tests/instr tests/fleet \
    -name '*.sh' -o -name '*.inc' -o -name '*.py' -o -name '*.tsv' |
    sort | xargs grep -nE "(^|[^0-9.])($runtimes)([^0-9]|\$)" /dev/null)
[ -z "$found$named" ] || { printf '%s\n' "$found" "$named" | grep .; exit 1; }
