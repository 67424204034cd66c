# SPDX-License-Identifier: MIT
# lib.sh - shared by the tests of reports: TAP, a temporary folder, and a compiler of programs that make
# sessions.
# Sets T (a folder that is removed at the end), BUILD, CC, failed, and REPORT (the program that writes one format).
set -u
cd "$(dirname "$0")/../.." || exit 1
BUILD=${BUILD:-build}
CC=${CC:-cc}
REPORT=${REPORT:-$BUILD/tests/report_main}
T=$(mktemp -d "${TMPDIR:-/tmp}/sxsprof-profile-XXXXXX") || exit 1
trap 'rm -rf "$T"' EXIT
failed=0
ok() { echo "ok - $1"; }
not_ok() { echo "not ok - $1"; shift; printf '%s\n' "$@" | sed 's/^/# /'; failed=1; }
skip() { echo "ok - $1 # SKIP $2"; }
is() { if [ "$2" = "$3" ]; then ok "$1"; else not_ok "$1" "expected: $2" "got: $3"; fi; }
has() { case $2 in *"$3"*) ok "$1" ;; *) not_ok "$1" "missing: $3" "in: $2" ;; esac; }

# compile NAME [FLAG...]: builds $T/NAME from tests/profile/NAME.c. Ends the test if that fails.
compile() { $CC -std=gnu11 -D_GNU_SOURCE -g -I. "tests/profile/$1.c" -o "$T/$1" "${@:2}" || exit 1; }
