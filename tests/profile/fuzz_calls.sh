# SPDX-License-Identifier: MIT
# Damaged files of calls: a message, whatever is whole, never a crash.
cd "$(dirname "$0")/../.." || exit 1
exec "${BUILD:-build}/tests/fuzz_calls" -n "${N_FUZZ:-300}" tests/fuzz/corpus_calls/*
