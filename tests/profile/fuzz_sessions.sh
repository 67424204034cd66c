# SPDX-License-Identifier: MIT
# Damaged and cut session folders through the command, in every format: a message that names the file,
# what is whole, never a crash. FUZZ_ROUNDS=100000 FUZZ_SEED=1 for longer; FUZZ_KEEP=DIR keeps what failed.
set -u
cd "$(dirname "$0")/../.." || exit 1
BUILD=${BUILD:-build}
T=$(mktemp -d "${TMPDIR:-/tmp}/sxsprof-fuzz-XXXXXX") || exit 1
trap 'rm -rf "$T"' EXIT
for what in samples calls events instrument; do
    ${CC:-cc} -std=gnu11 -D_GNU_SOURCE -I. tests/profile/make_$what.c -o "$T/make_$what" || exit 1
done
rounds=${FUZZ_ROUNDS:-160}
if python3 tests/fuzz/sessions.py "$BUILD/sxsprof" "$T" "$rounds" "${FUZZ_SEED:-1}" >"$T/out" 2>&1; then
    echo "ok - $rounds damaged sessions; cut files and single records as they should be"
else
    echo "not ok - damaged sessions"
    sed 's/^/# /' "$T/out"
    exit 1
fi
