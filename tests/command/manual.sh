#!/bin/bash
# SPDX-License-Identifier: MIT
# manual.sh - checks that the manual pages describe the options of the command, no others, with their arguments, and every
# variable, and have no warnings.
# run: without sanitizers
cd "$(dirname "$0")/../.." || exit 1
. tests/command/common.inc
verbs="sample calls trace alloc native heap locks wait exceptions events gc instrument record stop status snapshot detach report diff top serve pack push fleet ps doctor env runtimes check il"

try "$SXS" --version
has "--version" "$status:$out" "0:sxsprof "
try "$SXS" --help
# shellcheck disable=SC2086
has "--help names every verb" "$status:$out" "0:Usage" $verbs
for verb in $verbs; do
    try "$SXS" "$verb" --help
    has "$verb --help prints its usage" "$status:$out" "0:Usage: sxsprof $verb"
done
"$SXS" --completion zsh >"$T/zsh"
python3 -B tests/command/manual_options.py "$T/zsh" || failed=1
for variable in $(grep -oh '"SXSPROF_[A-Z_]*"' base/env.h | tr -d '"' | sort -u); do
    has "the manual page has $variable" "$(cat docs/man/sxsprof-environment.7)" "$variable"
done
for page in docs/man/*.[0-9]; do
    if command -v man >/dev/null; then
        is "$page has no warnings" "" "$(man --warnings -l "$page" 2>&1 >/dev/null)"
        has "$page can be read" "$(MANWIDTH=80 man -l "$page" 2>&1)" "NAME" "DESCRIPTION"
    else
        skip "$page has no warnings" "no man here (package man-db)"
    fi
done
finish
