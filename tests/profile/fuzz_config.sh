# SPDX-License-Identifier: MIT
# fuzz_config.sh - checks that a damaged instrumentation file gives a message and no rules, and never a crash.
cd "$(dirname "$0")/../.." || exit 1
exec "${BUILD:-build}/tests/fuzz_config" -n "${N_FUZZ:-3000}" tests/fuzz/corpus_config/*
