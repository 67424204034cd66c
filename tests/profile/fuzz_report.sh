# SPDX-License-Identifier: MIT
# Damaged sessions of two processes, with all their files, through "report" and "diff" in every format: never a crash.
cd "$(dirname "$0")/../.." || exit 1
exec "${BUILD:-build}/tests/fuzz_report" -n "${N_FUZZ:-150}" tests/fuzz/corpus_report/*
