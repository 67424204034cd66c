#!/bin/sh
# SPDX-License-Identifier: MIT
# glibc.sh - checks that programs and libraries use no symbol version of a glibc later than VERSION.
# Prints those that do; status 1 if there are any.
# usage: glibc.sh VERSION FILE...
set -u
[ $# -ge 2 ] || { echo "usage: glibc.sh VERSION FILE..." >&2; exit 2; }
max=$1
shift
bad=0
for file in "$@"; do
    symbols=$(objdump -T "$file") || exit 1
    late=$(printf '%s\n' "$symbols" | awk -v max="$max" '
        match($0, /GLIBC_2\.[0-9]+/) {
            split(max, m, ".")
            if (substr($0, RSTART + 8, RLENGTH - 8) + 0 > m[2] + 0)
                print $NF "@" substr($0, RSTART, RLENGTH)
        }' | sort -u | paste -s -d ' ')
    [ -z "$late" ] || { echo "$file needs a glibc later than $max: $late"; bad=1; }
done
exit $bad
