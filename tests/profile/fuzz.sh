# SPDX-License-Identifier: MIT
# Damaged samples files: a message, whatever is whole, never a crash.
cd "$(dirname "$0")/../.." || exit 1
# The files of the corpus came out of libFuzzer: each reaches code the others do not.
exec "${BUILD:-build}/tests/fuzz_samples" -n "${N_FUZZ:-300}" tests/fuzz/corpus/*
