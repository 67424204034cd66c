#!/bin/sh
# SPDX-License-Identifier: MIT
# tags.sh - runs tags.py, which checks that no tag of a structure, union or enumeration is defined twice.
cd "$(dirname "$0")/../.." || exit 1
exec python3 -B tests/lint/tags.py
