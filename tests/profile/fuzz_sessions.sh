# SPDX-License-Identifier: MIT
# fuzz_sessions.sh - checks that the command reports damaged and cut session folders without a crash, in every
# format, with a message that names the damaged file and with all whole parts.
# FUZZ_ROUNDS=100000 FUZZ_SEED=1 runs longer; FUZZ_KEEP=DIR keeps the sessions that failed.
. "$(dirname "$0")/lib.sh"
for what in samples calls events instrument; do compile make_$what; done
rounds=${FUZZ_ROUNDS:-160}
if python3 tests/fuzz/sessions.py "$BUILD/sxsprof" "$T" "$rounds" "${FUZZ_SEED:-1}" >"$T/out" 2>&1; then
    ok "$rounds damaged sessions; cut files and single records are reported correctly"
else
    not_ok "damaged sessions" "$(cat "$T/out")"
fi
exit $failed
