# SPDX-License-Identifier: MIT
# fuzz_heap.sh - checks that damaged heap snapshots give a message and their whole parts, and never a crash.
cd "$(dirname "$0")/../.." || exit 1
exec "${BUILD:-build}/tests/fuzz_heap" -n "${N_FUZZ:-1000}"
