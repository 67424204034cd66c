#!/bin/sh
# SPDX-License-Identifier: MIT
# run.sh - `make lint`: runs clang-tidy, cppcheck, and checks of layering, circles, tags, words, tests
# that documents name, signal safety, locks and forks, variables of sessions, the environment,
# what prints, what reports say is missing, decisions by versions of runtimes, exported symbols, shell scripts, manual
# pages and the scripts of HTML pages. Status 1 when anything is found.
# .clang-tidy and tests/lint/cppcheck.txt list the findings that are suppressed, with reasons. The
# last line is "N passed, N failed, N skipped"; it counts steps. BUILD/lint remembers the files in
# which clang-tidy and cppcheck found nothing; such a file is checked again when it, one of its
# headers or a setting changes.
#
# BUILD    folder with gen/
# ONLY     names of steps (default: all)
# JOBS     number of compilers at a time (default: one per processor)
# REMEMBER no: clang-tidy remembers nothing, which saves a sixth of the time of a first run
# NODES    number of states of a function that clang-tidy's analyzer examines (75000: a third of its
#          own default; takes a third of the time)
# RESULTS  a file that receives a line "passed failed skipped"
set -u
cd "$(dirname "$0")/../.." || exit 1
: "${BUILD:=build}" "${JOBS:=$(nproc)}" "${RESULTS:=}" "${NODES:=75000}"
export BUILD
: "${ONLY:=layering circles tags words named-tests signal-safety fork session environment prints missing runtime-facts symbols shell manual pages cppcheck clang-tidy}"
defines="-D_GNU_SOURCE -DSXS_VERSION=\"lint\" -DFAKECLR_VERSION=\"9.0\" -I. $(xml2-config --cflags 2>/dev/null)"
flags="-std=gnu11 $defines -I$BUILD/gen"
folders="$(sh tests/lint/folders.sh | sed "s,/.*,," | sort -u | tr "\n" " ")harness tests"
log=$(mktemp "${TMPDIR:-/tmp}/sxsprof-lint.XXXXXX") || exit 1
trap 'rm -f "$log"' EXIT
trap 'exit 130' INT TERM
passed=0 failed=0 skipped=0

# tests/hosts/programs/go_faults/clr.c is left out: Go compiles it, and it includes sources of the
# harness.
sources() {
    # shellcheck disable=SC2086
    find $folders -path tests/hosts/programs/go_faults -prune -o -name '*.c' -print 2>/dev/null | sort
}

scripts() { find setup packaging base tests .ci -name '*.sh' -o -path .ci/run | sort; }

shell() {
    if command -v shellcheck >/dev/null; then
        scripts | xargs shellcheck -s bash -S error # most warnings are about variables of lib.sh
    else
        for script in $(scripts); do
            case $script in # tests/run.sh runs test scripts by bash
                tests/*/*) bash -n "$script" ;;
                *) sh -n "$script" ;;
            esac || return 1
        done
    fi
}

# man and groff print warnings to standard error but end with status 0.
manual() {
    for page in docs/man/*.[1-9]; do
        [ -e "$page" ] || continue
        said=$(MANWIDTH=80 LC_ALL=C.UTF-8 man --warnings -E UTF-8 -l -Tutf8 -Z "$page" 2>&1 >/dev/null)
        [ -z "$said" ] || { printf '%s\n' "$page: $said"; return 1; }
    done
}

check_cpp() {
    mkdir -p "$BUILD/lint/cppcheck" || return
    # shellcheck disable=SC2086
    sh tests/lint/abi.sh "$BUILD/gen" "$BUILD/lint/gen" $folders || return
    # With -D options cppcheck examines a single configuration of each source.
    # shellcheck disable=SC2086
    # Unit tests are left out: they take three quarters of the time, and run under sanitizers.
    sources | grep -v '^tests/unit/' | cppcheck -q --file-list=- -j "$JOBS" --cppcheck-build-dir="$BUILD/lint/cppcheck" --std=c11 --language=c --inline-suppr \
        --library=tests/lint/cppcheck.cfg -D__x86_64__=1 -D__linux__=1 -D__cppcheck__=1 \
        --enable=warning,performance,portability --suppressions-list=tests/lint/cppcheck.txt \
        --error-exitcode=1 $defines -I"$BUILD/lint/gen"
}

tidy() {
    # One process per file, so that an error in one file does not hide findings in others. The
    # largest files first.
    # shellcheck disable=SC2086
    sources | xargs ls -S | xargs -P "$JOBS" -I '{}' sh tests/lint/tidy.sh '{}' $flags -Wall -Wextra \
        -Xclang -analyzer-config -Xclang max-nodes="$NODES"
}

step() { # name tool command...
    case " $ONLY " in *" $1 "*) ;; *) return ;; esac
    name=$1 tool=$2
    shift 2
    if ! command -v "$tool" >/dev/null; then
        printf '%-14s left out: %s is not installed\n' "$name" "$tool"
        skipped=$((skipped + 1))
        return
    fi
    "$@" >"$log" 2>&1
    status=$?
    if [ $status -eq 0 ]; then
        printf '%-14s ok\n' "$name"
        passed=$((passed + 1))
    elif [ $status -eq 77 ]; then
        printf '%-14s left out: %s\n' "$name" "$(cat "$log")"
        skipped=$((skipped + 1))
    else
        printf '%-14s FINDINGS\n' "$name"
        sed "s|$PWD/||g; s/^/    /" "$log"
        failed=$((failed + 1))
    fi
}

step layering      awk        sh tests/lint/layering.sh
step circles       python3    sh tests/lint/circles.sh
step tags          python3    sh tests/lint/tags.sh
step words         python3    sh tests/lint/words.sh
step named-tests   python3    sh tests/lint/named-tests.sh
step signal-safety python3    sh tests/lint/signal-safety.sh
step fork          sh         sh tests/lint/fork.sh
step session       objdump    sh tests/lint/session.sh
step environment   grep       sh tests/lint/environment.sh
step prints        python3    sh tests/lint/prints.sh
step missing       python3    sh tests/lint/missing.sh
step runtime-facts python3    sh tests/lint/runtime-facts.sh
step symbols       nm         sh tests/lint/symbols.sh
step shell         sh         shell
step manual        man        manual
step pages         node       sh tests/lint/page.sh
step cppcheck      cppcheck   check_cpp
step clang-tidy    clang-tidy tidy
[ -z "$RESULTS" ] || echo "$passed $failed $skipped" >"$RESULTS"
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ] && [ $passed -gt 0 ]
