# SPDX-License-Identifier: MIT
# fuzz_pack.sh - checks whole, damaged and hostile packed sessions and tables of names: nothing is left of a
# refused one.
[ -z "${SAN:-}" ] || : "${N_FUZZ:=1000}" # seven milliseconds each, with sanitizers
cd "$(dirname "$0")/../.." || exit 1
exec "${BUILD:-build}/tests/fuzz_pack" -n "${N_FUZZ:-100000}" tests/fuzz/corpus_pack/*
