# SPDX-License-Identifier: MIT
# Packed sessions and tables of names, whole, damaged and hostile: a refused one leaves nothing behind.
cd "$(dirname "$0")/../.." || exit 1
exec "${BUILD:-build}/tests/fuzz_pack" -n "${N_FUZZ:-1000}" tests/fuzz/corpus_pack/*
