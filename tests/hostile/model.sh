# SPDX-License-Identifier: MIT
# model.sh - compares the threat model (docs/internals/security.md) with the project: each verb has a row, each file
# that a row names exists, and each attacker is named.
# run: without sanitizers
. "$(dirname "$0")/lib.sh"
page=docs/internals/security.md

"$sxsprof" --help | sed -n 's/^  \([a-z][a-z]*\)  *[a-z].*/\1/p' >"$tmp/verbs"
printf '%s\n' run attach start >>"$tmp/verbs" # other spellings, which the help does not list
sed -n '/^<!-- verbs/,/^## The library/p' $page | sed -n 's/^| \([^|]*\) |.*/\1/p' | grep -o '`[a-z]*`' | tr -d '`' | sort -u >"$tmp/rows"
[ "$(wc -l <"$tmp/verbs")" -gt 20 ] && sort "$tmp/verbs" | comm -23 - "$tmp/rows" >"$tmp/missing" && [ ! -s "$tmp/missing" ]
check "each verb has a row" $? "$tmp/missing"
sort "$tmp/verbs" | comm -13 - "$tmp/rows" >"$tmp/unknown" && [ ! -s "$tmp/unknown" ]
check "each row is that of a verb" $? "$tmp/unknown"

# The last two columns: files of the code, and tests.
sed -n '/^| Verb /,/^## System calls/p' $page | grep '^| [^-]' | awk -F' \\| ' '{ print $(NF - 1); sub(/ \|$/, "", $NF); print "T " $NF }' |
    grep '`' >"$tmp/columns"
while read -r line; do
    prefix=
    case $line in "T "*) prefix=tests/ ;; esac
    for file in $(echo "$line" | grep -o '`[^`]*`' | tr -d '`'); do
        echo "$file" >>"$tmp/files"
        [ -e "$prefix$file" ] || echo "$prefix$file"
    done
done <"$tmp/columns" >"$tmp/missing"
[ "$(wc -l <"$tmp/files")" -gt 60 ] && [ ! -s "$tmp/missing" ]
check "the files in its tables exist" $? "$tmp/missing"

for test in tests/hostile/*.sh; do
    [ "$test" = tests/hostile/lib.sh ] || grep -q "\b$(basename "$test")" $page || echo "$test"
done >"$tmp/missing"
[ ! -s "$tmp/missing" ]
check "each attacker is named" $? "$tmp/missing"
for driver in tests/fuzz/fuzz_*.c; do
    driver=$(basename "$driver" .c)
    grep -rqw "$driver\|for driver in .*\b${driver#fuzz_}\b.*; do" tests/*/*.sh || echo "$driver"
done >"$tmp/missing"
[ ! -s "$tmp/missing" ]
check "each fuzz driver is run by a test" $? "$tmp/missing"
finish
