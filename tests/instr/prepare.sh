# SPDX-License-Identifier: MIT
# The base class libraries with code at entry, at every exit and in a handler of each method: compiled by three
# runtimes at once, and used. PREPARE=N asks for N methods a runtime, PREPARE=all for all of them (minutes), one
# runtime after the other. What the same methods and uses give without the library is found out in processes of one
# runtime each: a process of several does not live without it.
. "$(dirname "$0")/../integration/lib.sh"
: "${PREPARE:=1500}"
need_real 3
[ -e "$BUILD/managed/prepare/prepare.dll" ] || skip_all "$0" "the app prepare is not built"
bridge=$(realpath "$BUILD")/libsxsbridge.so
together=1
[ "$PREPARE" = all ] && PREPARE=0 together=0
least=$((PREPARE ? PREPARE * 9 / 10 : 100000))

cat >"$tmp/all.xml" <<E
<?xml version="1.0"?>
<instrumentation xmlns="urn:sxsprof:instrumentation:1">
<rule name="all"><match assembly="System*" type="*"/><match assembly="Microsoft*" type="*"/>
  <wrap library="$bridge" before="sxsbridge_entered" after="sxsbridge_left" result="false"/></rule>
</instrumentation>
E

# prepare PREFIX VERSION...: the app in each of them
prepare() {
    prefix=$1 n=$#
    shift
    for v; do set -- "$@" "$v" prepare "methods=$PREPARE file=$tmp/$prefix"; done
    shift $((n - 1))
    "$runsxs" --timeout 1100 "$@"
}
# over VERSION...: without and with new IL, then what became of it
over() {
    for v; do
        prepare plain "$v" >"$tmp/log" 2>&1
        check "$v: alone, without the library" $? "$tmp/log"
    done
    (
        runsxs_alone=$runsxs
        runsxs=under_sxsprof
        under_sxsprof() {
            SXSPROF_INSTRUMENT=$tmp/all.xml "$sxsprof" run --quiet -o "$tmp/out" -- "$runsxs_alone" "$@"
        }
        prepare instrumented "$@"
    ) >"$tmp/log" 2>&1
    check "$*: with new IL in every method" $? "$tmp/log"
    grep -q '^called: entered [1-9][0-9]* left [1-9][0-9]* .* bad 0$' "$tmp/log"
    check "$*: what a method's end is handed is what its start returned" $? "$tmp/log"
    "$sxsprof" report --format json "$tmp/out" >"$tmp/json" 2>"$tmp/err" && [ ! -s "$tmp/err" ]
    check "$*: nothing is missing in the session" $? "$tmp/err"
    python3 -B tests/instr/prepared.py "$tmp/json" "$tmp/plain" "$tmp/instrumented" $least "$@" >"$tmp/tap" 2>&1
    check "$*: the session is read" $? "$tmp/tap"
    grep -E '^(ok|not ok|#)' "$tmp/tap"
    grep -q '^not ok' "$tmp/tap" && any_failed=1
    rm -rf "$tmp/out"
}
if [ $together -eq 1 ]; then
    # shellcheck disable=SC2086
    over $versions
else
    for v in $versions; do over "$v"; done
fi
finish
