#!/bin/sh
# SPDX-License-Identifier: MIT
# tidy.sh - clang-tidy on one file, unless the same file with the same headers, settings and flags was found clean before.
# Prints the findings; status 1 if there are any.
#
# usage: tidy.sh FILE [COMPILER FLAG...]        BUILD  folder with lint/, which keeps the names of what was clean
set -u
cd "$(dirname "$0")/../.." || exit 1
file=$1
shift
kept=${BUILD:-build}/lint/tidy
mkdir -p "$kept" || exit 1

# The names of all files that the compiler reads for this one, itself included.
reads() { clang -M "$@" "$file" 2>/dev/null | sed 's/^[^:]*\.o://; s/\\$//' | tr -s ' ' '\n' | sed '/^$/d'; }
files=$(reads "$@")
key=
if [ -n "$files" ]; then
    # shellcheck disable=SC2086
    key=$({ clang-tidy --version; echo "$file $*"; sha256sum .clang-tidy tests/.clang-tidy $files; } | sha256sum)
    key=$kept/${key%% *}
    [ -e "$key" ] && exit 0
fi
out=$(clang-tidy --quiet "$file" -- "$@" 2>/dev/null) || { printf '%s\n' "$out"; exit 1; }
[ -z "$key" ] || : >"$key"
