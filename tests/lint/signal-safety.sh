#!/bin/sh
# SPDX-License-Identifier: MIT
# signal-safety.sh - checks that functions that may run in a signal handler call only functions that
# docs/internals/signal-safety.md allows. With clang it checks the syntax tree; without clang, or with
# --source, the text of the sources.
set -u
cd "$(dirname "$0")/../.." || exit 1
: "${BUILD:=build}"
how=ast
if [ "${1:-}" = --source ] || ! command -v clang >/dev/null || [ ! -e "$BUILD/gen/sxs_abi.h" ]; then
    how=source
fi
exec python3 -B tests/lint/sigsafe.py $how -std=gnu11 -D_GNU_SOURCE -I. "-I$BUILD/gen"
