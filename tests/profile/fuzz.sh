# SPDX-License-Identifier: MIT
# Damaged samples files: a message, whatever is whole, never a crash.
cd "$(dirname "$0")/../.." || exit 1
exec "${BUILD:-build}/tests/fuzz_samples" -n "${N_FUZZ:-300}"
