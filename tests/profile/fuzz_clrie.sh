# SPDX-License-Identifier: MIT
# fuzz_clrie.sh - checks that damaged configuration files of plug-ins, and damaged data of an attach, give messages, and
# never a crash.
cd "$(dirname "$0")/../.." || exit 1
exec "${BUILD:-build}/tests/fuzz_clrie" -n "${N_FUZZ:-20000}"
