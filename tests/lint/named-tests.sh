#!/bin/sh
# SPDX-License-Identifier: MIT
# named-tests.sh - runs named_tests.py, which checks that the tests exist that a document names.
cd "$(dirname "$0")/../.." || exit 1
exec python3 tests/lint/named_tests.py
