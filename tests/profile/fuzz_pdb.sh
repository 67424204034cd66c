# SPDX-License-Identifier: MIT
# fuzz_pdb.sh - checks lines from Portable PDBs, beside assemblies and embedded in them, whole and damaged.
cd "$(dirname "$0")/../.." || exit 1
exec "${BUILD:-build}/tests/fuzz_pdb" -n "${N_FUZZ:-3000}"
