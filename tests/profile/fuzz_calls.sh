# SPDX-License-Identifier: MIT
# fuzz_calls.sh - checks that a damaged file of calls gives a message and its whole parts, and never a crash.
cd "$(dirname "$0")/../.." || exit 1
exec "${BUILD:-build}/tests/fuzz_calls" -n "${N_FUZZ:-300}" tests/fuzz/corpus_calls/*
