#!/bin/sh
# SPDX-License-Identifier: MIT
# signal-safety.sh - what may run in a signal handler calls only what docs/signal-safety.md allows.
# With clang on the syntax tree; without it, or with --source, on the text of the sources.
set -u
cd "$(dirname "$0")/../.." || exit 1
: "${BUILD:=build}"
how=ast
if [ "${1:-}" = --source ] || ! command -v clang >/dev/null || [ ! -e "$BUILD/gen/sxs_abi.h" ]; then
    how=source
fi
exec python3 -B tests/lint/sigsafe.py $how -std=gnu11 -D_GNU_SOURCE -I. "-I$BUILD/gen"
