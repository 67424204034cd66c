#!/bin/sh
# SPDX-License-Identifier: MIT
# circles.sh - runs circles.py, which checks that no sources include each other in a circle.
cd "$(dirname "$0")/../.." || exit 1
exec python3 tests/lint/circles.py
