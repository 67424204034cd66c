#!/bin/bash
# SPDX-License-Identifier: MIT
# instrument.sh - checks the messages about instrumentation files, and which methods "check" says that rules
# match.
cd "$(dirname "$0")/../.." || exit 1
. tests/command/common.inc
mkdir "$T/rules"
good=$T/rules/good.xml bad=$T/rules/bad.xml

cat >"$good" <<'X'
<instrumentation xmlns="urn:sxsprof:instrumentation:1">
  <rule name="orders">
    <match type="Shop.Orders" method="Place"/>
    <trace arguments="amount 3"/>
  </rule>
</instrumentation>
X
cat >"$bad" <<'X'
<instrumentation xmlns="urn:sxsprof:instrumentation:1">
  <rule name="örders">
    <match type="Shop/Orders" methd="Place"/><count/>
  </rule>
  <rule><match type="Shop.Orders"/><inject at="entry">
      ldc.i4.1
      popp
  </inject></rule>
</instrumentation>
X

try "$SXS" check "$good"
is "a good file: exit status 0, the summary, no message" "0|$good: 1 rule in 1 file, 0 errors, 0 warnings|" \
    "$status|$out|$err"
try "$SXS" check "$bad"
is "a bad file: exit status 1" 1 "$status"
is "a bad file: the message has file, line, column, error and what was expected" \
    "$bad:3:31: <match> knows no methd=; expected runtime, assembly, minVersion, maxVersion, type, method, parameters, attribute or async" \
    "$err"
sed -i 's/ methd="Place"//' "$bad"
try "$SXS" check "$bad"
is "errors that the schema cannot find: all are reported, in the order of the file" \
    "$bad:3:12: type=\"Shop/Orders\"; expected + between an outer type and the one nested in it
$bad:7:7: no such instruction: popp; expected IL in ilasm's syntax, a line each" "$err"
try "$SXS" check "$T/rules"
is "a folder: the rules of correct files are counted beside a wrong file" \
    "1|$T/rules: 1 rule in 2 files, 2 errors, 0 warnings" "$status|$out"
try "$SXS" check "$T/nothing.xml"
is "a missing file: exit status 2" "2|$T/nothing.xml: No such file or directory; expected an instrumentation file, or a folder of them" \
    "$status|$err"
try "$SXS" check
has "no path: the message says what was expected" "$status:$err" "2:" "expected an instrumentation file"
try "$SXS" check "$good" "$good"
has "a file that is not an assembly is refused" "$status:$err" "2:" "not a .NET assembly"

run_bad() { # CLAIM PART...
    local claim=$1
    shift
    is "$claim: exit status 2" 2 "$status"
    has "$claim: the message has the error, the place and what was expected" "$err" "$@"
    [ ! -e "$T/started" ] && ok "$claim: nothing started" || not_ok "$claim: nothing started"
}
try "$SXS" run --instrument "$bad" -- touch "$T/started"
run_bad "run --instrument with a bad file" "--instrument: $bad:3:12: type=\"Shop/Orders\"; expected + between" \
    "1 more: sxsprof check $bad"
try "$SXS" run --instrument "$T/nothing" -- touch "$T/started"
run_bad "run --instrument with a missing file" "--instrument: $T/nothing: No such file" "expected an instrumentation file"
SXSPROF_INSTRUMENT=$bad try "$SXS" run -- touch "$T/started"
run_bad "a bad SXSPROF_INSTRUMENT" "SXSPROF_INSTRUMENT: $bad:3:12" "the variable is set"
cd "$T" || exit 1
try "$SXS" run --quiet --instrument rules/good.xml -- sh -c 'echo "$SXSPROF_INSTRUMENT"'
is "run --instrument sets an absolute path" "0:$(realpath "$good")" "$status:$out"
cd "$OLDPWD" || exit 1

# The examples of the documentation: the first is a file, the second is a rule.
sed -n '/^    <?xml/,/^    <.instrumentation>/p' docs/guide/instrumentation.md | sed 's/^    //' >"$T/first.xml"
{
    echo '<instrumentation xmlns="urn:sxsprof:instrumentation:1">'
    sed -n '/^    <rule>/,/^    <.rule>/p' docs/guide/instrumentation.md
    echo '</instrumentation>'
} >"$T/second.xml"
for example in first second; do
    try "$SXS" check "$T/$example.xml"
    has "the $example example of the documentation is correct" "$status:$out$err" \
        "0:$T/$example.xml: 1 rule in 1 file, 0 errors"
done

core=$(find build/runtimes/ -path '*10.0*' -name System.Private.CoreLib.dll 2>/dev/null | head -n 1)
if [ -n "$core" ]; then
    cat >"$good" <<'X'
<instrumentation xmlns="urn:sxsprof:instrumentation:1">
  <rule name="concat">
    <match assembly="System.Private.CoreLib" type="System.String" method="Concat"
           parameters="System.String,System.String"/>
    <trace arguments="str0 nonsense"/>
  </rule>
  <rule name="nested">
    <match type="System.IO.Stream+NullStream" method="get_CanRead"/><count/>
  </rule>
  <rule name="generic">
    <match runtime="10" type="System.Collections.Generic.List`1" method="ConvertAll"/><time/>
  </rule>
  <rule name="bodies">
    <match type="System.IO.StreamReader" method="ReadLineAsyncInternal" async="statemachine"/><time/>
  </rule>
  <rule name="outer">
    <match type="System.IO.StreamReader" method="ReadLineAsyncInternal" async="outer"/><time/>
  </rule>
  <rule name="attribute">
    <match attribute="System.FlagsAttribute"/><exclude type="*"/><time/>
  </rule>
</instrumentation>
X
    try "$SXS" check --runtime 10.0.11 "$good" "$core"
    has "check with an assembly lists the methods" "$status:$out" 0: "$good:2:3: concat
    [System.Private.CoreLib] System.String.Concat(System.String,System.String)  has no nonsense
" "[System.Private.CoreLib] System.IO.Stream+NullStream.get_CanRead()" \
        'List`1.ConvertAll(System.Converter`2[!0,!!0])' \
        "MoveNext()  the body of System.IO.StreamReader.ReadLineAsyncInternal" \
        'ReadLineAsyncInternal(System.Threading.CancellationToken)  its body is a state machine' \
        "attribute
    no method of this assembly"
    is "an argument name that no method has gets a warning" \
        "$good:5:5: warning: none of these methods has an argument nonsense" "$err"
    try "$SXS" check --runtime 8.0.1 "$good" "$core"
    has "rules for another runtime match nothing" "$out" "generic
    no method of this assembly"
else
    skip "check with an assembly lists the methods" "no runtime here"
fi
finish
