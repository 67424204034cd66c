# SPDX-License-Identifier: MIT
# Damaged and cut session folders through the command, in every format: a message that names the file,
# what is whole, never a crash. FUZZ_ROUNDS=100000 FUZZ_SEED=1 for longer; FUZZ_KEEP=DIR keeps what failed.
. "$(dirname "$0")/lib.sh"
for what in samples calls events instrument; do compile make_$what; done
rounds=${FUZZ_ROUNDS:-160}
if python3 tests/fuzz/sessions.py "$BUILD/sxsprof" "$T" "$rounds" "${FUZZ_SEED:-1}" >"$T/out" 2>&1; then
    ok "$rounds damaged sessions; cut files and single records as they should be"
else
    not_ok "damaged sessions" "$(cat "$T/out")"
fi
exit $failed
