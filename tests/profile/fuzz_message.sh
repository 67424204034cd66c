#!/bin/sh
# SPDX-License-Identifier: MIT
# fuzz_message.sh - checks that damaged messages of the control socket give a reason, and that whole ones are read as
# they were written.
cd "$(dirname "$0")/../.." || exit 1
exec "${BUILD:-build}/tests/fuzz_message" -n "${N_FUZZ:-100000}"
