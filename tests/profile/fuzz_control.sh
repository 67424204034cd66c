#!/bin/sh
# SPDX-License-Identifier: MIT
# fuzz_control.sh - checks that whatever a client sends to the control socket is answered or refused, and that the
# server is never stuck.
cd "$(dirname "$0")/../.." || exit 1
exec "${BUILD:-build}/tests/fuzz_control" -n "${N_FUZZ:-3000}"
