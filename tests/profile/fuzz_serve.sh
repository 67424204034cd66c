# SPDX-License-Identifier: MIT
# fuzz_serve.sh - checks that nothing a client can send to sxsprof serve leads out of the served folder.
cd "$(dirname "$0")/../.." || exit 1
exec "${BUILD:-build}/tests/fuzz_serve" -n "${N_FUZZ:-300000}"
