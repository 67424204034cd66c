# SPDX-License-Identifier: MIT
# locale.sh - profiles a host that has set a locale with a decimal comma.
# Numbers in rules must be read with a decimal point, and reports must not depend on the locale.
. "$(dirname "$0")/lib.sh"
need_real 1
version=$(echo "$versions" | tail -n 1)
host=$BUILD/hosts/number_locale
export DOTNET_SYSTEM_GLOBALIZATION_INVARIANT=1
localedef -c -i de_DE -f UTF-8 "$tmp/de_DE.UTF-8" >/dev/null 2>&1
[ -d "$tmp/de_DE.UTF-8" ] || skip_all "$0" "no locale can be made (Debian: locales)"

rules() { printf '<instrumentation xmlns="urn:sxsprof:instrumentation:1">%s</instrumentation>\n' "$1" >"$tmp/rules.xml"; }
run() { # APP ARGUMENTS
    rm -rf "$tmp/session"
    LOCPATH=$tmp LC_ALL=de_DE.UTF-8 timeout -k 5 120 "$sxsprof" run --quiet --instrument "$tmp/rules.xml" -o "$tmp/session" -- \
        "$host" "$(realpath "$BUILD/runtimes/$version")" "$(realpath "$BUILD/managed/$1/$1.dll")" $2 >"$tmp/log" 2>&1
}

rules '<rule name="ten"><match assembly="instrumented" type="Instrumented.Work" method="Answer"/><replace value="010"/></rule>'
run instrumented "rounds=1 threads=1"
grep -q '^host: 0,5$' "$tmp/log"
check "the host prints numbers with a decimal comma" $? "$tmp/log"
grep -q 'answer 10 ' "$tmp/log"
status=$?
check "the value 010 in a rule is ten: $(grep -o 'answer [0-9]*' "$tmp/log")" $status "$tmp/log"

rules '<rule name="half"><match assembly="calls" type="Calls.Shapes" method="Single"/><replace value="0.5"/></rule>'
run calls "values=2"
grep -q 'wrong value: ' "$tmp/log" && ! grep -q 'expected number' "$tmp/log"
check "the value 0.5 in a rule is a number, and the program gets it in place of the original value" $? "$tmp/log"

rules '<rule name="shown"><match assembly="calls" type="Calls.Shapes" method="Single"/><trace arguments="*" result="true"/></rule>'
run calls "values=4"
check "a run with traced floating-point values succeeds" $? "$tmp/log"
for format in json chrome collapsed; do
    "$sxsprof" report --format $format "$tmp/session" >"$tmp/plain" 2>"$tmp/log"
    LOCPATH=$tmp LC_ALL=de_DE.UTF-8 "$sxsprof" report --format $format "$tmp/session" >"$tmp/comma" 2>"$tmp/log"
    cmp -s "$tmp/plain" "$tmp/comma"
    check "report --format $format prints the same in the locale with a decimal comma" $? "$tmp/comma"
done
finish
