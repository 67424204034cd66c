#!/bin/bash
# SPDX-License-Identifier: MIT
# Help, version and the manual page.
cd "$(dirname "$0")/../.." || exit 1
. tests/command/common.inc
page=docs/man/sxsprof.1

try "$SXS" --version
has "--version" "$status:$out" "0:sxsprof "
try "$SXS" --help
has "--help names every verb" "$status:$out" "0:Usage" run report diff runtimes doctor check il
for verb in run report diff runtimes doctor check il; do
    try "$SXS" $verb --help
    has "$verb --help" "$status:$out" "0:Usage: sxsprof $verb"
    for option in $(grep -o -e '--[a-z][a-z-]*' "$T/out" | sort -u | grep -v -e '--help' -e '--usage'); do
        has "$verb --help and the manual page have $option" "$(sed 's/\\-/-/g' $page)" "$option"
    done
done
for variable in $(grep -oh '"SXSPROF_[A-Z]*"' cmd/settings.c | tr -d '"' | sort -u); do
    has "the manual page has $variable" "$(cat $page)" "$variable"
done
if command -v man >/dev/null; then
    is "the manual page has no warnings" "" "$(man --warnings -l $page 2>&1 >/dev/null)"
    has "the manual page can be read" "$(MANWIDTH=80 man -l $page 2>&1)" "EXIT STATUS" "EXAMPLES"
else
    skip "the manual page has no warnings" "no man here (package man-db)"
fi
finish
