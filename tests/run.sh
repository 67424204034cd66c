#!/bin/sh
# SPDX-License-Identifier: MIT
# run.sh - runs every test program and adds up what they say.
#
# A test program prints TAP lines: "ok ...", "not ok ...", "ok ... # SKIP why". One that fails without
# saying "not ok" counts as one failure. Closes with "N passed, N failed, N skipped".
#
# BUILD  folder with what was built        SAN   sanitizers it was built with, or empty
# TESTS  only programs whose path contains this text
set -u
cd "$(dirname "$0")/.." || exit 1
: "${BUILD:=build}" "${SAN:=}" "${TESTS:=}"
export BUILD SAN CMOCKA_MESSAGE_OUTPUT=TAP
export ASAN_OPTIONS="verify_asan_link_order=0:detect_leaks=0:handle_segv=0:handle_sigfpe=0:handle_sigill=0:handle_sigbus=0:handle_abort=0:allow_user_segv_handler=1:use_sigaltstack=0:detect_odr_violation=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}"
export UBSAN_OPTIONS="halt_on_error=1:print_stacktrace=1${UBSAN_OPTIONS:+:$UBSAN_OPTIONS}"
export TSAN_OPTIONS="halt_on_error=1:handle_segv=0:report_signal_unsafe=0:suppressions=$PWD/tests/tsan.supp${TSAN_OPTIONS:+:$TSAN_OPTIONS}"

out=$(mktemp -d "${TMPDIR:-/tmp}/sxsprof-check.XXXXXX") || exit 1
trap 'rm -rf "$out"' EXIT
trap 'exit 130' INT TERM
passed=0 failed=0 skipped=0

tally() { # program exit-status log
    sed -i 's/^not ok \([0-9]*\) # SKIP/ok \1 - # SKIP/' "$3" # as cmocka 1.1 words it
    p=$(grep -cE '^ok ' "$3"); s=$(grep -ciE '^ok .*# skip' "$3"); f=$(grep -cE '^not ok ' "$3")
    p=$((p - s))
    if [ "$2" -ne 0 ] && [ "$f" -eq 0 ]; then
        f=1
        echo "not ok - $1 ended with status $2" >>"$3"
    fi
    passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
    printf '%-44s %4d ok' "$1" "$p"
    [ "$f" -gt 0 ] && printf ', %d FAILED' "$f"
    [ "$s" -gt 0 ] && printf ', %d skipped' "$s"
    echo
    grep -iE '^ok .*# skip' "$3" | sed 's/.*# *skip */    skipped: /I' | sort | uniq -c | sed 's/^ *1 //'
    [ "$f" -gt 0 ] && { sed 's/^/    /' "$3" | tail -n 60; }
    return 0
}

for t in "$BUILD"/tests/test_* tests/command/*.sh tests/integration/*.sh tests/instr/*.sh tests/profile/*.sh tests/lint/quick.sh; do
    case $t in *.d|*.o|*\**|*/lib.sh) continue ;; esac
    case $t in *"$TESTS"*) ;; *) continue ;; esac
    [ -x "$t" ] || [ "${t%.sh}" != "$t" ] || continue
    log="$out/$(echo "$t" | tr / _)"
    case $t in
    *.sh) timeout -k 5 "${TEST_TIMEOUT:-600}" bash "$t" >"$log" 2>&1 ;;
    *) # programs of our own, which keep no garbage: leaks count
        ASAN_OPTIONS="$ASAN_OPTIONS:detect_leaks=1" timeout -k 5 "${TEST_TIMEOUT:-600}" "$t" >"$log" 2>&1 ;;
    esac
    tally "$t" $? "$log"
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
