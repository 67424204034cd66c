#!/bin/sh
# SPDX-License-Identifier: MIT
# runtime-facts.sh - checks that what depends on a runtime's version is in the table of runtime_facts/ alone: see
# runtime_facts.py. Status 1 if something else decides by a version.
set -u
cd "$(dirname "$0")/../.." || exit 1
exec python3 tests/lint/runtime_facts.py "$@"
