#!/bin/sh
# SPDX-License-Identifier: MIT
# run.sh - runs every test program, several at a time, and adds up what they say.
#
# A test program prints TAP lines: "ok ...", "not ok ...", "ok ... # SKIP why". One that ends otherwise than with status 0
# without saying "not ok", or that prints no result, counts as one failure. The last line is "N passed, N failed, N skipped".
#
# BUILD  folder with what was built        SAN   sanitizers it was built with, or empty
# TESTS  only programs whose path contains this text
# JOBS   how many run at a time (default: one a processor); tests/runner/run.py has the rest
set -u
cd "$(dirname "$0")/.." || exit 1
: "${BUILD:=build}" "${SAN:=}" "${TESTS:=}"
export BUILD SAN TESTS CMOCKA_MESSAGE_OUTPUT=TAP
export ASAN_OPTIONS="verify_asan_link_order=0:detect_leaks=0:handle_segv=0:handle_sigfpe=0:handle_sigill=0:handle_sigbus=0:handle_abort=0:allow_user_segv_handler=1:use_sigaltstack=0:detect_odr_violation=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}"
export UBSAN_OPTIONS="halt_on_error=1:print_stacktrace=1${UBSAN_OPTIONS:+:$UBSAN_OPTIONS}"
export TSAN_OPTIONS="halt_on_error=1:handle_segv=0:report_signal_unsafe=0:suppressions=$PWD/tests/tsan.supp${TSAN_OPTIONS:+:$TSAN_OPTIONS}"

set --
for t in "$BUILD"/tests/test_* tests/command/*.sh tests/integration/*.sh tests/instr/*.sh tests/profile/*.sh \
    tests/hosts/*.sh tests/runner/*.sh tests/lint/quick.sh; do
    case $t in
    *.d | *.o | *\** | */lib.sh | tests/hosts/wrap_*) ;; # wrap_*: what hosts are started by
    *) set -- "$@" "$t" ;;
    esac
done
exec python3 -B tests/runner/run.py "$@"
