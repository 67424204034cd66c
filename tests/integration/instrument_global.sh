# SPDX-License-Identifier: MIT
# instrument_global.sh - matches, counts and traces global methods, whose type is <Module>.
# Also checks the log when many methods are refused for one reason: the log names the first few and counts the
# rest.
. "$(dirname "$0")/lib.sh"
need_real 3
ilasm=$BUILD/managed/odd/ilasm
begin='<?xml version="1.0"?><instrumentation xmlns="urn:sxsprof:instrumentation:1">'
run() { # RULES APP OPTIONS: run APP in three runtimes at once
    rules=$1 app=$2 options=$3
    rm -rf "$tmp/out"
    set --
    for v in $versions; do set -- "$@" "$v" "$app" "$options"; done
    SXSPROF_INSTRUMENT=$rules timeout -k 5 120 "$sxsprof" run --quiet -o "$tmp/out" -- \
        "$runsxs" --timeout 100 "$@" >"$tmp/log" 2>&1 && "$sxsprof" report --format json "$tmp/out" >"$tmp/json" 2>>"$tmp/log"
}

if [ -e "$ilasm" ]; then
    cat >"$tmp/global.il" <<'E2'
.assembly extern System.Runtime { .publickeytoken = (B0 3F 5F 7F 11 D5 0A 3A) .ver 8:0:0:0 }
.assembly global { .ver 1:0:0:0 }
.module global.dll
.method public static int32 Twice(int32 n) cil managed noinlining
{
  ldarg.0
  ldc.i4.2
  mul
  ret
}
.method public static int32 Main() cil managed
{
  .entrypoint
  .locals init (int32 i, int32 sum)
next:
  ldloc.1
  ldloc.0
  call int32 Twice(int32)
  add
  stloc.1
  ldloc.0
  ldc.i4.1
  add
  stloc.0
  ldloc.0
  ldc.i4.s 100
  blt.s next
  ldloc.1
  ldc.i4 9900
  sub
  ret
}
E2
    cp "$BUILD/managed/hello/hello.runtimeconfig.json" "$tmp/global.runtimeconfig.json"
    "$ilasm" -quiet "-output=$tmp/global.dll" "$tmp/global.il" >"$tmp/log" 2>&1
    check "a module with global methods is assembled" $? "$tmp/log"
    cat >"$tmp/rules.xml" <<E2
$begin
<rule><match assembly="global" type="&lt;Module&gt;" method="Twice"/><trace arguments="n"/></rule>
<rule><match assembly="global" type="*" method="Main"/><count/></rule>
</instrumentation>
E2
    run "$tmp/rules.xml" "$tmp/global.dll" "" && python3 -c 'import json, sys
d = json.load(open(sys.argv[1]))
s = sorted((x["name"], x["state"], x["calls"], x["calls_traced"]) for x in d["instrument"])
assert s == 3 * [("<Module>.Main", "active", 1, 0)] + 3 * [("<Module>.Twice", "active", 100, 100)], s
v = sorted((x["runtime"], x["begin_ns"], x["arguments"], x["result"]) for x in d["values"])
assert [x[2:] for x in v] == 3 * [(f"n = {i}", str(2 * i)) for i in range(100)], v[:5]' "$tmp/json" >"$tmp/said" 2>&1
    check "global methods are counted and traced by rules with their name and by rules with *" $? "$tmp/said"
else
    ok "global methods # SKIP the IL assembler could not be had"
fi

if [ -e "$BUILD/managed/instrumented/instrumented.dll" ]; then
    cat >"$tmp/rules.xml" <<E2
$begin
<rule><match assembly="instrumented" type="Instrumented.Work" method="*"/><trace arguments="nothing"/></rule>
</instrumentation>
E2
    run "$tmp/rules.xml" instrumented "rounds=3" && python3 -c 'import json, re, sys
failed = [x for x in json.load(open(sys.argv[1]))["instrument"] if x["state"] == "failed"]
log = open(sys.argv[2]).read()
named = re.findall(r"instrumented:Instrumented.Work\S*: .*no argument \"nothing\"", log)
more = [int(n) for n in re.findall(r"and (\d+) more methods: .*no argument \"nothing\"", log)]
print(len(failed), len(named), more)
assert len(failed) > 20 and len(named) == 3 and sum(more) == len(failed) - 3 and len(more) <= 3' "$tmp/json" "$tmp/log" >"$tmp/said" 2>&1
    status=$?
    check "the log names the first few refused methods, then the number of the others: $(head -n 1 "$tmp/said")" $status "$tmp/said"
fi
finish
