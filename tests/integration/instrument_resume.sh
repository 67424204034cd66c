# SPDX-License-Identifier: MIT
# instrument_resume.sh - a catch handler may leave into the middle of its own try block, as Visual Basic's "On Error
# Resume Next" does. The command check and the library agree on the bodies that can be changed.
. "$(dirname "$0")/lib.sh"
need_real 3
ilasm=$BUILD/managed/odd/ilasm
[ -x "$ilasm" ] || skip_all "$0" "there is no ilasm (no network?)"
cat >"$tmp/resumes.il" <<'E2'
.assembly extern System.Runtime {}
.assembly resumes {}
.class public auto ansi P extends [System.Runtime]System.Object {
.method public hidebysig static int32 Resume(int32 n) cil managed {
  .maxstack 4
  .locals init (int32 step, int32 sum)
  .try {
   Again: ldloc.0
    switch (Zero, One, Two)
    leave Done
   Zero: ldc.i4.1
    stloc.0
    ldarg.0
    ldarg.0
    div
    stloc.1
   One: ldc.i4.2
    stloc.0
    ldloc.1
    ldarg.0
    add
    stloc.1
    leave Done
   Two: leave Done
  } catch [System.Runtime]System.DivideByZeroException {
    pop
    ldc.i4.1
    stloc.0
    leave One
  }
 Done: ldloc.1
  ret
}
.method public hidebysig static int32 Bad(int32 n) cil managed {
  ldarg.0
  add
  ret
}
.method public hidebysig static int32 Main(string[] a) cil managed {
  .entrypoint
  ldc.i4.0
  call int32 P::Resume(int32)
  ldc.i4.5
  call int32 P::Resume(int32)
  add
  ldc.i4.6
  sub
  ret
}
}
E2
cp "$BUILD/managed/hello/hello.runtimeconfig.json" "$tmp/resumes.runtimeconfig.json"
"$ilasm" -quiet "-output=$tmp/resumes.dll" "$tmp/resumes.il" >"$tmp/log" 2>&1
check "an app that resumes after errors is assembled" $? "$tmp/log"
cat >"$tmp/rules.xml" <<'E2'
<instrumentation xmlns="urn:sxsprof:instrumentation:1">
<rule name="all"><match assembly="resumes" type="P" method="*"/><time/></rule>
</instrumentation>
E2
"$sxsprof" check "$tmp/rules.xml" "$tmp/resumes.dll" >"$tmp/said" 2>"$tmp/warned"
grep -q 'P\.Resume(System\.Int32)$' "$tmp/said" && grep -q 'P\.Bad(System\.Int32)  cannot be changed: add takes 2 values' "$tmp/said" &&
    grep -q 'rules.xml:2:1: warning: P\.Bad cannot be changed' "$tmp/warned" && [ "$(wc -l <"$tmp/warned")" -eq 1 ]
check "check names the method whose body cannot be changed, and no other" $? "$tmp/said"
for v in $versions; do
    rm -rf "$tmp/out"
    timeout -k 5 120 "$sxsprof" run --quiet --instrument "$tmp/rules.xml" -o "$tmp/out" -- \
        "$runsxs" --timeout 100 "$v" "$tmp/resumes.dll" "" >"$tmp/log" 2>&1 && grep -q 'result=0' "$tmp/log"
    check "$v: the program has the same result with new IL" $? "$tmp/log"
    "$sxsprof" report --format json "$tmp/out" >"$tmp/json" 2>>"$tmp/log"
    python3 -c 'import json, sys
rows = {r["name"]: (r["state"], r["calls_ended"], r.get("reason")) for r in json.load(open(sys.argv[1]))["instrument"]}
print(rows)
sys.exit(rows["P.Resume"][:2] != ("active", 2))' "$tmp/json" >"$tmp/said" 2>&1
    check "$v: a method that leaves a handler into its own try block is timed" $? "$tmp/said"
done
finish
