# SPDX-License-Identifier: MIT
# fuzz.sh - checks that a damaged file of samples gives a message and its whole parts, and never a crash.
cd "$(dirname "$0")/../.." || exit 1
# The corpus was found by libFuzzer: each file reaches code that the others do not reach.
exec "${BUILD:-build}/tests/fuzz_samples" -n "${N_FUZZ:-300}" tests/fuzz/corpus/*
