# SPDX-License-Identifier: MIT
# fuzz_report.sh - checks that "report" and "diff" of damaged sessions of two processes never crash, in any
# format.
cd "$(dirname "$0")/../.." || exit 1
exec "${BUILD:-build}/tests/fuzz_report" -n "${N_FUZZ:-150}" tests/fuzz/corpus_report/*
