# SPDX-License-Identifier: MIT
# fuzz_instrument.sh - checks that damaged files of instrumented methods and traced calls give a message and
# their whole parts, and never a crash.
cd "$(dirname "$0")/../.." || exit 1
exec "${BUILD:-build}/tests/fuzz_instrument" -n "${N_FUZZ:-1000}"
