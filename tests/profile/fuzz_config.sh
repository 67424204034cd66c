# SPDX-License-Identifier: MIT
# Damaged instrumentation files: a message, no rules of theirs, never a crash.
cd "$(dirname "$0")/../.." || exit 1
exec "${BUILD:-build}/tests/fuzz_config" -n "${N_FUZZ:-3000}" tests/fuzz/corpus_config/*
