# SPDX-License-Identifier: MIT
# prepare.sh - checks that three runtimes compile and run the base class libraries with new IL in each method.
# The new IL is at entry, at every exit and in a handler. PREPARE=N tests N methods of each runtime,
# PREPARE=all tests all methods (minutes), one runtime after the other. The expected results come from
# processes with one runtime and without the library, because a process with several runtimes needs it.
. "$(dirname "$0")/../integration/lib.sh"
: "${PREPARE:=700}"
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

# prepare PREFIX VERSION...: runs the app in each of these runtimes
prepare() {
    prefix=$1 n=$#
    shift
    for v; do set -- "$@" "$v" prepare "methods=$PREPARE file=$tmp/$prefix"; done
    shift $((n - 1))
    "$runsxs" --timeout 1100 "$@"
}
# over VERSION...: runs the app without and with new IL, and compares the results
over() {
    for v; do
        prepare plain "$v" >"$tmp/log" 2>&1
        check "$v: one runtime, without the library" $? "$tmp/log"
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
    check "$*: the end of each method gets the value that its start returned" $? "$tmp/log"
    "$sxsprof" report --format json "$tmp/out" >"$tmp/json" 2>"$tmp/err" && [ ! -s "$tmp/err" ]
    check "$*: the session is complete" $? "$tmp/err"
    python3 -B tests/instr/prepared.py "$tmp/json" "$tmp/plain" "$tmp/instrumented" $least "$@" >"$tmp/tap" 2>&1
    check "$*: the session can be read" $? "$tmp/tap"
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
