#!/bin/sh
# SPDX-License-Identifier: MIT
# prints.sh - checks that the command prints by cmd/output/print.h, which cleans text from elsewhere: see prints.py.
# Status 1 if something else prints.
set -u
cd "$(dirname "$0")/../.." || exit 1
exec python3 tests/lint/prints.py "$@"
