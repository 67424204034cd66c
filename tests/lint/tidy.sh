#!/bin/sh
# SPDX-License-Identifier: MIT
# tidy.sh - runs clang-tidy on one file, unless an earlier run with the same file, headers, settings
# and flags found nothing. Prints the findings; status 1 if there are any.
#
# usage: tidy.sh FILE [COMPILER FLAG...]
# BUILD     build folder; BUILD/lint/tidy has an empty file for each input without findings
# REMEMBER  no: there are no such files
set -u
cd "$(dirname "$0")/../.." || exit 1
file=$1
shift
kept=${BUILD:-build}/lint/tidy
mkdir -p "$kept" || exit 1

# Prints the names of all files that the compiler reads for this file, including the file itself.
reads() { clang -M "$@" "$file" 2>/dev/null | sed 's/^[^:]*\.o://; s/\\$//' | tr -s ' ' '\n' | sed '/^$/d'; }
files=
[ "${REMEMBER:-yes}" = no ] || files=$(reads "$@")
key=
if [ -n "$files" ]; then
    # shellcheck disable=SC2086
    key=$({ clang-tidy --version; echo "$file $*"; sha256sum .clang-tidy tests/.clang-tidy $files; } | sha256sum)
    key=$kept/${key%% *}
    [ -e "$key" ] && exit 0
fi
out=$(clang-tidy --quiet "$file" -- "$@" 2>/dev/null) || { printf '%s\n' "$out"; exit 1; }
[ -z "$key" ] || : >"$key"
