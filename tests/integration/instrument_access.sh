# SPDX-License-Identifier: MIT
# instrument_access.sh - checks that injected IL is refused exactly where .NET 8, 9 and 10 would throw.
# Each line of IL accesses one member. The lines are first compiled into an app, which prints the lines for
# which the runtime throws an exception. Then the same lines are injected into an app that does not have them.
. "$(dirname "$0")/lib.sh"
need_real 3
ilasm=$(realpath "$BUILD")/managed/odd/ilasm
[ -x "$ilasm" ] || skip_all "$0" "there is no ilasm (no network?)"
python3 - "$tmp" <<'E'
import os, sys
tmp = sys.argv[1]
ONE = "cil managed { ldc.i4.1\n ret }\n"
def members(*names):
    return "".join("  .method %s hidebysig static int32 %s() %s" % (a, n, ONE) for a, n in names)
def nested(access, name):
    return "  .class nested %s auto ansi %s extends [System.Runtime]System.Object {\n%s  }\n" % (
        access, name, members(("public", "M")))
ALL = (("private", "Private"), ("assembly", "Internal"), ("family", "Family"), ("famorassem", "Either"),
       ("famandassem", "Both"), ("public", "Public"))
def library(head, name):
    return (".class public auto ansi %s extends [System.Runtime]System.Object {\n" % name + members(*ALL) +
            "  .field private static int32 f\n" + nested("private", "NestedPrivate") +
            nested("assembly", "NestedInternal") + nested("public", "NestedPublic") +
            nested("family", "NestedFamily") + nested("famandassem", "NestedBoth") + nested("famorassem", "NestedEither") + "}\n")
visible = (".custom instance void [System.Runtime]System.Runtime.CompilerServices.InternalsVisibleToAttribute::"
           ".ctor(string) = {string('accessfriend')}")
open(tmp + "/lib.il", "w").write(
    ".assembly extern System.Runtime {}\n.assembly accesslib { %s }\n" % visible + library("", "Lib") +
    ".class private auto ansi Inner extends [System.Runtime]System.Object {\n" + members(("public", "M")) + "}\n")
names = [n for _, n in ALL]
kinds = ["Nested" + n for n in names]
lines = {"Other_" + n: "call int32 [accesslib]Lib::%s()" % n for n in names}
lines.update({"Other_" + n: "call int32 [accesslib]Lib/%s::M()" % n
              for n in kinds})
lines["Other_Inner"] = "call int32 [accesslib]Inner::M()"
lines["Other_Field"] = "ldsfld int32 [accesslib]Lib::f"
lines.update({"Own_" + n: "call int32 Own::%s()" % n for n in names})
lines.update({"Own_" + n: "call int32 Own/%s::M()" % n for n in kinds})
lines["Own_Field"] = "ldsfld int32 Own::f"
heirs = {"Heir_" + n: "call int32 [accesslib]Lib::%s()" % n for n in names}
heirs.update({"Heir_" + n: "call int32 [accesslib]Lib/%s::M()" % n for n in kinds})
heirs.update({"OwnHeir_" + n: "call int32 Own/%s::M()" % n for n in kinds})
heirs.update({"OwnHeir_" + n: "call int32 Own::%s()" % n for n in names})
IGNORES = """.class private auto ansi System.Runtime.CompilerServices.IgnoresAccessChecksToAttribute extends [System.Runtime]System.Attribute {
  .method public hidebysig specialname rtspecialname instance void .ctor(string s) cil managed { ldarg.0
 call instance void [System.Runtime]System.Attribute::.ctor()
 ret }
}
"""
def app(name, real):
    def method(n, line):
        return "  .method public hidebysig static int32 %s() cil managed noinlining { %s\n ret }\n" % (
            n, line if real else "ldc.i4.1")
    def attempt(n):
        cls = "OwnHeir" if n.startswith("OwnHeir") else "Heir" if n.startswith("Heir") else "P"
        return """  .try { call int32 %s::%s()
 pop
 leave E%s } catch [System.Runtime]System.MemberAccessException { pop
 ldstr "refused %s"
 call void [System.Console]System.Console::WriteLine(string)
 leave E%s }
 E%s:
""" % (cls, n, n, n, n, n)
    ignores = name == "accessignores"
    text = ".assembly extern System.Runtime {}\n.assembly extern System.Console {}\n.assembly extern accesslib {}\n"
    text += ".assembly %s { %s }\n" % (name, ".custom instance void System.Runtime.CompilerServices."
        "IgnoresAccessChecksToAttribute::.ctor(string) = {string('accesslib')}" if ignores else "")
    text += (IGNORES if ignores else "") + library("", "Own")
    for cls, base in (("Heir", "[accesslib]Lib"), ("OwnHeir", "Own"), ("P", "[System.Runtime]System.Object")):
        text += ".class public auto ansi %s extends %s {\n" % (cls, base)
        for n, line in {**lines, **heirs}.items():
            if (n.split("_")[0] if n in heirs else "P") == cls:
                text += method(n, line)
        if cls == "P":
            text += "  .method public hidebysig static int32 Main(string[] a) cil managed { .entrypoint\n"
            text += "".join(attempt(n) for n in {**lines, **heirs}) + "  ldc.i4.0\n ret }\n"
        text += "}\n"
    d = "%s/%s%s" % (tmp, name, "-real" if real else "")
    os.mkdir(d)
    open(d + "/app.il", "w").write(text)
for name in ("accessapp", "accessfriend", "accessignores"):
    app(name, True), app(name, False)
    with open("%s/%s.xml" % (tmp, name), "w") as f:
        f.write('<?xml version="1.0"?><instrumentation xmlns="urn:sxsprof:instrumentation:1">\n')
        for n, line in {**lines, **heirs}.items():
            f.write('<rule><match assembly="%s" method="%s"/><inject at="entry">%s\npop</inject></rule>\n' % (name, n, line))
        f.write("</instrumentation>\n")
E
for name in accessapp accessfriend accessignores; do
    for d in "$tmp/$name" "$tmp/$name-real"; do
        "$ilasm" -dll -quiet "-output=$d/accesslib.dll" "$tmp/lib.il" >>"$tmp/il" 2>&1 &&
            "$ilasm" -quiet "-output=$d/$name.dll" "$d/app.il" >>"$tmp/il" 2>&1 || { not_ok "$name assembles" "$tmp/il"; finish; }
        cp "$BUILD/managed/instrumented/instrumented.runtimeconfig.json" "$d/$name.runtimeconfig.json"
    done
    for v in $versions; do
        "$runsxs" --timeout 60 "$v" "$tmp/$name-real/$name.dll" "" 2>"$tmp/log" | grep '^refused' | sort >"$tmp/said"
        rm -rf "$tmp/out"
        SXSPROF_INSTRUMENT=$tmp/$name.xml "$sxsprof" run --quiet -o "$tmp/out" -- \
            "$runsxs" --timeout 60 "$v" "$tmp/$name/$name.dll" "" >"$tmp/log" 2>&1 && ! grep -q '^refused' "$tmp/log"
        check "$name $v: the runtime throws for none of the injected lines" $? "$tmp/log"
        "$sxsprof" report --format json "$tmp/out" >"$tmp/json" 2>>"$tmp/log"
        python3 -c 'import json, sys
s = json.load(open(sys.argv[1]))["instrument"]
said = {l.split()[1] for l in open(sys.argv[2])}
failed = {x["name"].split(".")[-1]: x["reason"] for x in s if x["state"] == "failed"}
print("refused without need:", {n: failed[n] for n in set(failed) - said}, "not refused:", said - set(failed))
sys.exit(len(s) != 51 or set(failed) != said or not 3 < len(said) < 40 or
         any(" is private" not in w and " is internal" not in w and " is protected" not in w for w in failed.values()))' \
            "$tmp/json" "$tmp/said" >"$tmp/wrong" 2>&1
        check "$name $v: the lines for which the runtime throws are refused, and no other lines" $? "$tmp/wrong"
    done
done
finish
