#!/bin/bash
# SPDX-License-Identifier: MIT
# masked_values.sh - plays whoever gets a session that was recorded with SXSPROF_MASK: texts in arguments and results,
# messages of exceptions and the arguments of the command line must not be in any file of it.
. "$(dirname "$0")/lib.sh"
need_real 1
[ -e "$BUILD/managed/calls/calls.dll" ] || skip_all "$0" "the app calls is not built"
version=$(echo "$versions" | tail -n 1)
record() { # NAME [NAME=VALUE] -- [OPTION...]
    local name=$1 set=NOTHING=1
    [ "$2" = -- ] || { set=$2; shift; }
    shift 2
    env "$set" timeout -k 5 170 "$sxsprof" run --quiet "$@" --tool exceptions --values 'calls:Calls.Values*' \
        -o "$tmp/$name" -- "$runsxs" --timeout 160 "$version" calls "shown=1" >"$tmp/out" 2>"$tmp/err"
    status=$?
}
has() { grep -raqE -e "$2" "$tmp/$1"; }

record plain --
[ $status = 0 ] && has plain shown=1 && has plain 'derived' && has plain '-9223372036854775808' &&
    has plain 'thrown'
check "without a mask texts and numbers are in the session" $? "$tmp/err"
record option -- --mask text
[ $status = 0 ] && ! has option 'shown=1|"derived|"thrown"'; check "--mask text: no text is" $? "$tmp/err"
has option 'string\([0-9]+\)' && has option '-9223372036854775808'
check "lengths and numbers are" $? "$tmp/err"
has option 'runsxs \(arguments masked\)'; check "of the command line the program is" $? "$tmp/err"
record all SXSPROF_MASK=all --
[ $status = 0 ] && ! has all 'shown=1|"derived|-9223372036854775808'
check "SXSPROF_MASK=all: numbers are not in it either" $? "$tmp/err"
! has all 'string\([0-9]+\)'; check "nor lengths of texts" $? "$tmp/err"
# A path that nearly fills the line of the census: no place for "arguments masked" after it.
file=$(realpath "$runsxs")
for length in 1000 1005 1015; do
    program=$(printf '%*s' $((length - ${#file})) '' | tr ' ' /)$file
    "$sxsprof" run --quiet --mask text -o "$tmp/long$length" -- "$program" --timeout 100 "$version" calls "shown=1" >"$tmp/out" 2>&1
    [ $? = 0 ] && has "long$length" "$file" && ! has "long$length" '[-]-tim|shown=1'
    check "no argument is behind a path of $length characters" $? "$tmp/out"
done
"$sxsprof" run --mask text -o "$tmp/said" -- "$runsxs" --timeout 100 "$version" calls "shown=1" >"$tmp/out" 2>&1
grep -q 'values are masked: of texts the length was recorded' "$tmp/out"; check "the summary says so" $? "$tmp/out"
record wrong SXSPROF_MASK=some --
[ $status = 2 ] && grep -q 'expected off, text or all' "$tmp/err"; check "another word is refused" $? "$tmp/err"
finish
