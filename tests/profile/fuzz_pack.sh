# SPDX-License-Identifier: MIT
# fuzz_pack.sh - checks whole, damaged and hostile packed sessions and tables of names: nothing is left of a
# refused one.
cd "$(dirname "$0")/../.." || exit 1
exec "${BUILD:-build}/tests/fuzz_pack" -n "${N_FUZZ:-100000}" tests/fuzz/corpus_pack/*
