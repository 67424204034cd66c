#!/bin/sh
# SPDX-License-Identifier: MIT
# recursion.sh - checks that functions which call themselves are listed with what bounds their depth: see recursion.py.
# Status 1 if one is not.
set -u
cd "$(dirname "$0")/../.." || exit 1
exec python3 tests/lint/recursion.py "$@"
