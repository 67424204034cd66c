# SPDX-License-Identifier: MIT
# instrument_errors.sh - checks how errors in instrumentation files and rules are reported on real runtimes.
# Each error must be reported in one precise line, and the program must run on as without instrumentation.
. "$(dirname "$0")/lib.sh"
need_real 3
tracer=$(realpath "$BUILD")/managed/tracer/tracer.dll
bridge=$(realpath "$BUILD")/libsxsbridge.so
[ -e "$BUILD/managed/instrumented/instrumented.dll" ] && [ -e "$tracer" ] ||
    skip_all "$0" "the apps instrumented and tracer are not built"

limit=
begin='<?xml version="1.0"?><instrumentation xmlns="urn:sxsprof:instrumentation:1">'
# run PATH ARGUMENTS: run the app in three runtimes at once, instrumented by PATH; fails unless the app prints
# its usual output and exits with status 0
run() {
    path=$1 options=$2
    rm -rf "$tmp/out"
    set --
    for v in $versions; do set -- "$@" "$v" instrumented "$options"; done
    export SXSPROF_INSTRUMENT="$path"
    ${limit:+limited} timeout -k 5 120 "$sxsprof" run --quiet -o "$tmp/out" -- \
        "$runsxs" --timeout 100 "$@" >"$tmp/log" 2>&1 || return 1
    [ "$(grep -c "answer 42 text original" "$tmp/log")" -eq 3 ] || return 2
    [ "$(grep -c "instrumented: known 1 Instrumented.Work.Answer" "$tmp/log")" -eq 3 ] || return 3
    unset SXSPROF_INSTRUMENT
    "$sxsprof" report --format json "$tmp/out" >"$tmp/json" 2>>"$tmp/log"
}

# table NAME: the file NAME has lines METHOD | TEXT | ACTION (`;;` in ACTION is a line break). Make a rule of
# each line and run the app. Every runtime must report TEXT for METHOD, with the place of the rule, in one
# line of the log and as the reason of the state.
table() {
    python3 -c 'import sys
out = open(sys.argv[1] + ".xml", "w")
out.write(sys.argv[2] + "\n")
for line in open(sys.argv[1]):
    method, said, action = [x.strip() for x in line.split("|", 2)]
    out.write("<rule><match assembly=\"instrumented\" type=\"Instrumented.Work*\" method=\"%s\"/>%s</rule>\n"
              % (method, action.replace(";;", "\n")))
out.write("</instrumentation>\n")' "$tmp/$1" "$begin" && run "$tmp/$1.xml" "rounds=3 fib=1"
    check "$1: the program behaves as without instrumentation" $? "$tmp/log"
    python3 -c 'import json,re,sys
methods = json.load(open(sys.argv[2]))["instrument"]
log = open(sys.argv[3]).read().splitlines()
bad = 0
for line in open(sys.argv[1]):
    method, said, action = [x.strip() for x in line.split("|", 2)]
    found = [s for s in methods if s["name"].endswith("." + method)]
    reported = [s for s in found if s["state"] == "failed" and said in s["reason"]
            and re.match(re.escape(sys.argv[1]) + r"\.xml:\d+:\d+: ", s["reason"])]
    lines = [l for l in log if (":%s" % "Instrumented.Work") in l and "." + method + ": " in l and said in l]
    if len(found) != 3 or len(reported) != 3 or len(lines) != 3:
        bad += 1
        print("wanted of", method, ":", said, "; said:", [s["reason"] for s in found], len(lines))
sys.exit(bad)' "$tmp/$1" "$tmp/json" "$tmp/log" >"$tmp/wrong"
    check "$1: each error is reported in one line, with its place" $? "$tmp/wrong"
}

# ---- lines of IL --------------------------------------------------------------------------------
console='[System.Console]System.Console'
cat >"$tmp/names" <<E
Answer | assembly Nowhere is not loaded and not found in | <inject at="entry">call void [Nowhere]A.B::C()</inject>
Text | there is no type System.Consol in | <inject at="entry">call void [System.Console]System.Consol::WriteLine()</inject>
Loop | is WriteLine meant? | <inject at="entry">ldstr "";;call void $console::Writeline(string)</inject>
Static | there is no method WriteLine, int32 (string), in System.Console of System.Console; there is | <inject at="entry">ldstr "";;call int32 $console::WriteLine(string);;pop</inject>
Small | there is no field Empt, string, in System.String of System.Private.CoreLib; is Empty meant? | <inject at="entry">ldsfld string [System.Runtime]System.String::Empt;;pop</inject>
Void | there is no type Instrumented.Missing in | <inject at="entry">call void Instrumented.Missing::None()</inject>
Instance | there is no method Answr, int32 (), in Instrumented.Work of instrumented; is Answer meant? | <inject at="entry">call int32 Instrumented.Work::Answr();;pop</inject>
Throws | is internal: instrumented has no access | <inject at="entry">ldnull;;isinst [System.Private.CoreLib]System.SR;;pop</inject>
Generic | is private | <inject at="entry">ldstr "";;ldfld int32 [System.Runtime]System.String::_stringLength;;pop</inject>
Fib | newobj: its type is abstract | <inject at="entry">newobj instance void [System.Private.CoreLib]System.Text.EncodingProvider::.ctor();;pop</inject>
Async | there is instance int32 () | <inject at="entry">ldstr "";;call int32 [System.Runtime]System.String::get_Length();;pop</inject>
Items | callvirt: it is static | <inject at="entry">callvirt void [System.Runtime]System.GC::Collect()</inject>
get_Value | ldsfld: it is a constant | <inject at="entry">ldsfld int32 [System.Runtime]System.Int32::MaxValue;;pop</inject>
E
table names
cat >"$tmp/places" <<E
Answer | no instruction fits "call *Foo*"; there is "ldc.i4.s 42", "ret" | <inject at="before" instruction="call *Foo*">nop</inject>
Text | there is no instruction at offset 0x777 | <inject at="before" offset="0x777">nop</inject>
Loop | not be valid | <inject at="entry">pop</inject>
Static | it has no argument 7 | <call when="before" library="$bridge" symbol="sxsbridge_before" arguments="7"/>
Small | it has no argument "nobody" | <call when="before" library="$bridge" symbol="sxsbridge_before" arguments="nobody"/>
Void | it returns nothing that could be replaced | <replace value="1"/>
Instance | forty | <replace value="forty"/>
Throws | has no function sxsbridge_no | <call when="before" library="$bridge" symbol="sxsbridge_no"/>
Generic | none.so: No such file or directory | <call when="before" library="$tmp/none.so" symbol="f"/>
Fib | other.so: | <call when="before" library="$tmp/other.so" symbol="f"/>
Async | native code returns numbers only | <replace library="$bridge" symbol="sxsbridge_before"/>
Items | it has no argument 65535 | <trace arguments="65535"/>
get_Value | it has no argument 1 | <trace arguments="this 1"/>
E
python3 -c 'import sys
b = bytearray(open(sys.argv[1], "rb").read()); b[18:20] = b"\xb7\x00" # aarch64
open(sys.argv[2], "wb").write(b)' "$bridge" "$tmp/other.so"
table places

# ---- helpers ------------------------------------------------------------------------------------
echo text >"$tmp/text.dll"
: >"$tmp/empty.dll"
mkdir "$tmp/folder.dll"
ln -s "$tmp/nowhere" "$tmp/dangling.dll"
helper() { # METHOD TEXT ASSEMBLY TYPE HELPER [ARGUMENTS]: print a line for table
    echo "$1 | $2 | <call when=\"before\" assembly=\"$3\" type=\"$4\" method=\"$5\" ${6-arguments=\"0\"}/>"
}
{
    helper Answer "none.dll: No such file" "$tmp/none.dll" A B ""
    helper Text "text.dll: not an assembly" "$tmp/text.dll" A B ""
    helper Loop "folder.dll: " "$tmp/folder.dll" A B
    helper Static "dangling.dll: No such file" "$tmp/dangling.dll" A B
    helper Small "empty.dll: not an assembly" "$tmp/empty.dll" A B
    helper Void "there is no type Tracer.Missing in" "$tracer" Tracer.Missing B
    helper Instance "there is no method Missing in the helper" "$tracer" Tracer.Calls Missing
    helper Throws "there are several methods Several" "$tracer" Tracer.Odd Several
    helper Generic "is generic" "$tracer" Tracer.Odd Generic
    helper Fib "method Instance is not static" "$tracer" Tracer.Odd Instance
    helper Async "has 2 parameters, not 1" "$tracer" Tracer.Calls After
    helper Items "neither object nor primitive" "$tracer" Tracer.Odd Time
    helper get_Value "helper Nowhere is not loaded and not found in" Nowhere A B ""
} >"$tmp/helpers"
table helpers

# Make a helper for .NET 9: set the major version of each assembly that the helper refers to.
python3 -c 'import sys
b = open(sys.argv[1], "rb").read(); old = b"\x08" + bytes(11)
at = b.find(old, 512)
while at >= 0:
    b = b[:at] + b"\x09" + b[at + 1:]
    at = b.find(old, at + 1)
open(sys.argv[2], "wb").write(b)' "$tracer" "$tmp/newer.dll"
cat >"$tmp/fails.xml" <<E
$begin
<rule name="newer"><match assembly="instrumented" type="Instrumented.Work" method="Static"/>
  <call when="before" assembly="newer.dll" type="Tracer.Calls" method="Before" arguments="0"/></rule>
<rule name="constructor"><match assembly="instrumented" type="Instrumented.Work" method="Small"/>
  <call when="before" assembly="$tracer" type="Tracer.Bad" method="Before" arguments="0"/></rule>
<rule name="throws"><match assembly="instrumented" type="Instrumented.Work" method="Loop"/>
  <call when="before" assembly="$tracer" type="Tracer.Calls" method="Throws" arguments="0"/></rule>
</instrumentation>
E
run "$tmp/fails.xml" "rounds=3"
check "helpers that fail: the program behaves as without instrumentation" $? "$tmp/log"
eight=$(echo "$versions" | head -n 1)
[ "$(grep -c "newer.dll is built for .NET 9, the runtime is $eight" "$tmp/log")" -eq 1 ] &&
    [ "$(grep -c "tracer: 3 before Int32" "$tmp/log")" -eq 2 ]
check "a helper for a newer .NET is refused in an older runtime, and called in the other runtimes" $? "$tmp/log"
[ "$(grep -c "Before of Tracer.Bad in .* threw, and may again" "$tmp/log")" -eq 3 ] &&
    [ "$(grep -c "Throws of Tracer.Calls in .* threw, and may again" "$tmp/log")" -eq 3 ]
check "a helper that throws, or whose static constructor throws, is reported once in each runtime" $? "$tmp/log"

# ---- instructions by their text -----------------------------------------------------------------
cat >"$tmp/spots.xml" <<E
$begin
<rule><match assembly="instrumented" type="Instrumented.Work" method="Loop"/>
  <inject at="before" instruction="ldloc.0">
ldstr "spot: loop"
call void $console::WriteLine(string)
</inject></rule>
<rule><match assembly="instrumented" type="Instrumented.Work" method="Generic"/>
  <inject at="after" instruction="ldarg.0">
ldtoken !!0
pop
ldstr "spot: generic"
call void $console::WriteLine(string)
</inject><trace/></rule>
<rule><match assembly="instrumented" type="Instrumented.Work+Nested*" method="get_Value"/>
  <inject at="before" instruction="ret">
ldstr "spot: nested"
call void $console::WriteLine(string)
</inject><trace/></rule>
<rule><match assembly="instrumented" type="Instrumented.Work" method="CallsTwice"/>
  <inject at="before" instruction="call   int32 *::Twice(int32)">nop</inject></rule>
</instrumentation>
E
run "$tmp/spots.xml" "rounds=3 watch=1" && python3 -c 'import json,sys
s = json.load(open(sys.argv[1]))["instrument"]
assert len(s) >= 12 and all(x["state"] == "active" for x in s), s' "$tmp/json" 2>>"$tmp/log"
check "IL is injected at instructions that rules name by their text" $? "$tmp/log"
spots() { grep -c "^spot: $1\$" "$tmp/log"; }
[ "$(spots loop) $(spots generic) $(spots nested)" = "18 27 9" ]
check "injected IL runs each time a matching instruction is reached, also in generic methods and types" $? "$tmp/log"

# ---- rules --------------------------------------------------------------------------------------
cat >"$tmp/rules.xml" <<E
$begin
<rule name="no assembly"><match assembly="Shop" type="A.B" method="C"/><count/></rule>
<rule name="nor here"><match assembly="Shop" type="A.D" method="E"/><count/></rule>
<rule name="no type"><match assembly="instrumented" type="Instrumented.Wrok" method="C"/><count/></rule>
<rule name="no method"><match assembly="instrumented" type="Instrumented.Work" method="Statc"/><count/></rule>
<rule name="parameters"><match assembly="instrumented" type="Instrumented.Work" method="Static" parameters="System.String"/><count/></rule>
<rule name="machine"><match assembly="instrumented" type="Instrumented.Work" method="Static" async="statemachine"/><count/></rule>
<rule name="excluded"><match assembly="instrumented" type="Instrumented.Work" method="Loop"/><exclude method="Loo*"/><count/></rule>
<rule name="abstract"><match assembly="System.Private.CoreLib" type="System.IDisposable"/><count/></rule>
<rule name="good"><match assembly="instrumented" type="Instrumented.Work" method="Loop"/><count/></rule>
</instrumentation>
E
run "$tmp/rules.xml" "rounds=3" && python3 -c 'import json,sys
r = {x["name"]: x for x in json.load(open(sys.argv[1]))["instrument_rules"]}
want = {"no assembly": "no assembly Shop was loaded", "no type": "is Instrumented.Work meant?",
        "no method": "is Static meant?", "parameters": "there is (System.Int32)",
        "machine": "no such part of an async method", "excluded": "all that it fits is excluded"}
assert all(not r[n]["matched"] and t in r[n]["text"] for n, t in want.items()), r
assert r["good"]["matched"] and r["abstract"]["without_il"] == 1
assert r["abstract"]["text"] == "System.IDisposable.Dispose", r
log = open(sys.argv[2]).read()
assert log.count("rule abstract: without IL and passed over: System.IDisposable.Dispose") == 1' \
    "$tmp/json" "$tmp/log" 2>>"$tmp/log"
check "rules that match nothing have the nearest reason; methods without IL are reported once" $? "$tmp/log"
"$sxsprof" report "$tmp/out" 2>&1 |
    grep '^  rule' >"$tmp/text"
grep -q 'rule no method (.*rules.xml:5) matched nothing: there is no method Statc' "$tmp/text"
check "the text report has the rules that match nothing" $? "$tmp/text"
grep -q 'rule no assembly (.*rules.xml:2) and the next 1 matched nothing: no assembly Shop ' "$tmp/text" &&
    ! grep -q 'nor here' "$tmp/text" && [ "$(wc -l <"$tmp/text")" = 7 ]
check "consecutive rules that match nothing for the same reason are reported in one line" $? "$tmp/text"

# ---- files --------------------------------------------------------------------------------------
"$sxsprof" run --instrument "$tmp/none" --quiet -o "$tmp/out" -- true >"$tmp/log" 2>&1
[ $? -ne 0 ] && grep -q "none: No such file" "$tmp/log"
check "a path that does not exist is refused" $? "$tmp/log"
# refused TEXT FILE: `run --instrument FILE` must print exactly TEXT after the name of the file, and must not
# start the program
refused() {
    "$sxsprof" run --instrument "$2" --quiet -o "$tmp/out" -- touch "$tmp/started" >"$tmp/log" 2>&1
    [ $? -eq 2 ] && [ ! -e "$tmp/started" ] && grep -qFx "sxsprof run: --instrument: $2$1" "$tmp/log"
}
bad() { # "LINE:COLUMN: TEXT" RULE: a file with RULE must be refused with this place and text
    printf '%s\n%s</instrumentation>\n' "$begin" "$2" >"$tmp/bad.xml"
    refused ":$1" "$tmp/bad.xml"
    check "$1" $? "$tmp/log"
}
in_il="; expected IL in ilasm's syntax, a line each"
match='<match type="A"/>'
bad "3:19: Opening and ending tag mismatch: rule line 2 and instrumentation; expected well-formed XML" "<rule>$match<count/>
"
bad "4:3: no such instruction: popp$in_il" "<rule>$match<inject at=\"entry\">
  pop
  popp
</inject></rule>"
bad "2:50: expected a number$in_il" "<rule>$match<inject at=\"entry\">ldc.i4 one</inject></rule>"
bad "3:46: expected the name of a type$in_il" "<rule>$match
<inject at=\"entry\">call void [System.Console]::WriteLine()</inject></rule>"
bad '3:10: argument "99999999999"; expected this, *, names, or numbers from 0' "<rule>$match
  <trace arguments=\"99999999999\"/></rule>"
bad "2:31: more than 64 arguments" "<rule>$match<trace arguments=\"$(seq -s ' ' 0 64)\"/></rule>"
bad "3:3: <count> does not belong here; expected match" "<rule>
  <count/></rule>"
mkdir -p "$tmp/odd/x.xml"
refused "/x.xml: not a regular file; expected a file that can be read" "$tmp/odd"
check "a folder that has the name of a rule file is refused" $? "$tmp/log"
ln -s "$tmp/nowhere" "$tmp/dangling.xml"
said() { [ "$(grep -c "$2" "$tmp/log")" -ge "$1" ]; }
until_said() { wait_until said "$@"; } # COUNT TEXT: wait until COUNT lines in the log of the run have TEXT
refused ": No such file or directory; expected an instrumentation file, or a folder of them" "$tmp/dangling.xml"
check "a dangling link is refused" $? "$tmp/log"
mkdir "$tmp/rules"
echo "$begin<rule><match type=\"A\"/><count/></rule></instrumentation>" >"$tmp/rules/a.xml"
: >"$tmp/log"
counted() { # succeed when the new rule has counted calls in each of the three runtimes
    "$sxsprof" report --format json "$tmp/out" 2>/dev/null | python3 -c 'import json,sys
s = json.load(sys.stdin).get("instrument", [])
sys.exit(sum(x["calls"] > 0 for x in s if x["name"].endswith(".Twice")) != 3)' 2>/dev/null
}
(
    until_said 3 "answer 42 text original" # all three wait for new rules
    rm -r "${tmp:?}/rules" # the folder vanishes, and comes back with another rule
    until_said 1 "rules is gone, and looked for"
    mkdir "$tmp/new"
    mkdir "$tmp/new/b.xml" # a folder in the place of a file
    ln -s "$tmp/nowhere" "$tmp/new/c.xml"
    printf '%s\n<rule><match assembly="instrumented" type="Instrumented.Work" method="Twice"/><count/></rule></instrumentation>\n' \
        "$begin" >"$tmp/new/a.xml"
    mv "$tmp/new" "$tmp/rules"
    wait_until counted
    : >"$tmp/rules.end"
) &
run "$tmp/rules" "rounds=3 watch=90000"
check "a run succeeds whose rule folder vanishes and comes back with a folder and a dangling link in it" $? "$tmp/log"
wait
python3 -c 'import json,sys
s = json.load(open(sys.argv[1]))["instrument"]
assert sum(x["calls"] > 0 for x in s if x["name"].endswith(".Twice")) == 3, s' "$tmp/json" 2>>"$tmp/log" &&
    grep -q "rules/c.xml: " "$tmp/log" && grep -q "rules is gone, and looked for" "$tmp/log"
check "the new rule is in effect, and the missing folder and the unreadable file are reported" $? "$tmp/log"

# ---- a file becomes a folder --------------------------------------------------------------------
answer() { # VALUE: write a rule by which Answer() returns VALUE to one.xml, in one step (by a rename)
    printf '%s<rule><match assembly="instrumented" type="Instrumented.Work" method="Answer"/><replace value="%s"/>%s' \
        "$begin" "$1" "</rule></instrumentation>" >"$tmp/new"
    mv "$tmp/new" "$tmp/one.xml"
}
answer 42
: >"$tmp/log"
(
    until_said 3 ": 42 original"
    rm "$tmp/one.xml"
    mkdir "$tmp/new"
    mv "$tmp/new" "$tmp/one.xml"
    until_said 1 "one.xml is a folder now"
    rmdir "$tmp/one.xml"
    answer 44
    until_said 3 ": 44 original"
    rm "$tmp/one.xml"
    until_said 6 ": 42 original"
    : >"$tmp/one.xml.end"
) &
run "$tmp/one.xml" "rounds=3 watch=90000"
check "a run succeeds whose rule file becomes a folder" $? "$tmp/log"
wait
grep -q "tool instrument: $tmp/one.xml is a folder now, and was a file: rules stay as they are" "$tmp/log" &&
    [ "$(grep -c ": 44 original" "$tmp/log")" -eq 3 ] && [ "$(grep -c ": 42 original" "$tmp/log")" -eq 6 ]
check "the folder is reported; a new file is applied, and after its removal the original method is in effect" $? "$tmp/log"

# ---- a full disk --------------------------------------------------------------------------------
# The size of files is limited to 2 MiB: beyond it, writing fails as on a full disk. W^X is switched off,
# because with it runtimes map their code from a larger file.
cat >"$tmp/full.xml" <<E
$begin<rule><match assembly="instrumented" type="Instrumented.Work"/><trace arguments="*"/></rule></instrumentation>
E
limited() {
    python3 -c 'import os, resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
resource.setrlimit(resource.RLIMIT_FSIZE, (2 << 20, 2 << 20))
os.execvp(sys.argv[1], sys.argv[1:])' "$@"
}
limit=1 DOTNET_EnableWriteXorExecute=0
export DOTNET_EnableWriteXorExecute
run "$tmp/full.xml" "rounds=3000"
check "a full disk: the program behaves as without instrumentation" $? "$tmp/log"
limit=
[ "$(grep -c "the traced file cannot grow: calls are no longer recorded one by one, their counts are" "$tmp/log")" -eq 1 ] &&
    python3 -c 'import json,sys
d = json.load(open(sys.argv[1]))
found = {n: [x for x in d["instrument"] if x["name"] == "Instrumented.Work." + n] for n in ("Static", "Loop", "Throws")}
assert d["traced_lost"] > 0 and all(x["calls"] == x["calls_ended"] == 3000 for m in found.values() for x in m), found
assert all(len(m) == 3 for m in found.values()) and any(x["calls_traced"] < 3000 for x in found["Loop"])' "$tmp/json" 2>>"$tmp/log"
check "a full disk is reported in one line; counts stay exact, and lost records are counted" $? "$tmp/log"
finish
