#!/bin/sh
# SPDX-License-Identifier: MIT
# run.sh - runs all test programs, several at a time, and adds up their results.
#
# A test program prints TAP lines: "ok ...", "not ok ...", "ok ... # SKIP why". A program that ends
# with a status other than 0 without printing "not ok", or that prints no result, counts as one
# failure. The last line is "N passed, N failed, N skipped".
#
# BUILD  build folder
# SAN    sanitizers that the build uses, or empty
# TESTS  run only programs whose path contains this text
# SHARD  K/N: run only the K-th of N parts of them, of about the same time
# JOBS   number of programs at a time (default: one per processor); tests/runner/run.py has more
set -u
cd "$(dirname "$0")/.." || exit 1
: "${BUILD:=build}" "${SAN:=}" "${TESTS:=}"
export BUILD SAN TESTS CMOCKA_MESSAGE_OUTPUT=TAP
export ASAN_OPTIONS="verify_asan_link_order=0:detect_leaks=0:handle_segv=0:handle_sigfpe=0:handle_sigill=0:handle_sigbus=0:handle_abort=0:allow_user_segv_handler=1:use_sigaltstack=0:detect_odr_violation=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}"
export UBSAN_OPTIONS="halt_on_error=1:print_stacktrace=1${UBSAN_OPTIONS:+:$UBSAN_OPTIONS}"
# A process may end before its session, whose threads are joined at its end.
export TSAN_OPTIONS="report_thread_leaks=0:halt_on_error=1:handle_segv=0:report_signal_unsafe=0:suppressions=$PWD/tests/tsan.supp${TSAN_OPTIONS:+:$TSAN_OPTIONS}"

set --
for t in "$BUILD"/tests/test_* tests/command/*.sh tests/integration/*.sh tests/instr/*.sh tests/profile/*.sh \
    tests/hosts/*.sh tests/hostile/*.sh tests/guests/*.sh tests/clrie/*.sh tests/runner/*.sh tests/lint/quick.sh; do
    case $t in
    *.d | *.o | *\** | */lib.sh | tests/hosts/wrap_*) ;; # wrap_*: these start hosts
    *) set -- "$@" "$t" ;;
    esac
done
exec python3 -B tests/runner/run.py "$@"
