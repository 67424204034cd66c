# SPDX-License-Identifier: MIT
# Damaged files of instrumented methods and traced calls: a message, whatever is whole, never a crash.
cd "$(dirname "$0")/../.." || exit 1
exec "${BUILD:-build}/tests/fuzz_instrument" -n "${N_FUZZ:-1000}"
