#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""gen_slots.py - generates a call of every slot of every face of the engine's objects, for a test.

usage: gen_slots.py ABI_DIR CLASSES_TSV OUT

Writes OUT, which tests/unit/test_clrie_slots.c includes:
  one function for each slot of each interface, whose arguments the test makes (argument())
  a table of all slots of all faces, and a table of the sizes of their vtables, so that the test can
  see that no slot is missing
  stub_vtbl: an ICorProfilerInfo15 whose slots go to the functions of fake_base, or do nothing
"""
import sys

import gen_classes

NUMBERS = {"BOOL", "BYTE", "DWORD", "ULONG", "ULONG32", "UINT", "USHORT", "LONG", "INT32", "INT64", "int", "SIZE_T"}
TOKENS = {"mdToken": "METHOD", "mdMethodDef": "METHOD", "mdTypeDef": "TYPE", "mdFieldDef": "FIELD"}
IDS = {"AppDomainID", "AssemblyID", "ModuleID", "FunctionID", "ClassID", "ReJITID", "ThreadID", "ObjectID", "ContextID",
       "GCHandleID"}


def kind_of(interfaces, way, kind):
    """(what the test passes, the name of the type or interface)"""
    bare = kind.rstrip("*")
    stars = len(kind) - len(bare)
    bare = bare.replace("const ", "")
    is_interface = bare == "IUnknown" or bare in interfaces
    if kind == "BSTR":
        return "A_STRING", "BSTR"
    if kind == "BSTR*":
        return ("A_OUT_STRINGS" if way.startswith("out") else "A_STRINGS"), "BSTR"
    if is_interface and stars == 1:
        return "A_OBJECT", bare
    if is_interface and stars == 2:
        return ("A_OBJECTS" if way == "in" else "A_OUT_OBJECTS"), bare
    if kind in ("REFGUID", "REFIID") or (bare == "GUID" and stars):
        return ("A_MEMORY" if way.startswith("out") else "A_GUID"), "GUID"
    if bare == "WCHAR" and stars == 1 and way == "in":
        return "A_TEXT", "WCHAR"
    if stars or kind.startswith("LP") or kind.endswith(("Callback", "Mapper", "Mapper2")):
        return ("A_MEMORY" if way != "in" else "A_BYTES"), kind
    if kind in IDS or kind in TOKENS:
        return "A_ID", kind
    if kind in NUMBERS:
        return "A_NUMBER", kind
    return "A_VALUE", kind


def main():
    abi = gen_classes.Abi(sys.argv[1])
    with open(sys.argv[2], encoding="utf-8") as f:
        classes = [gen_classes.Class(line) for line in f if line.strip() and not line.startswith("#")]
    out = [gen_classes.BANNER.replace("gen_classes", "gen_slots"), ""]
    put = out.append
    done = set()
    rows, sizes = [], []
    for c in classes:
        for face, interface in enumerate(c.interfaces):
            slots = abi.slots(interface)
            sizes.append('    {"%s", "%s", sizeof(%sVtbl) / sizeof(void *)},' % (c.name, interface, interface))
            for slot in slots:
                name = "%s_%s" % (interface, slot.name)
                rows.append('    {&clrie_%s, "%s", "%s", %d, call_%s, %d},' % (
                    c.name, interface, slot.name, face, name, len(slot.params)))
                if name in done:
                    continue
                done.add(name)
                put("static HRESULT call_%s(void *self, struct call *call)\n{" % name)
                put("    %s *object = self;" % interface)
                if not slot.params:
                    put("    (void)call;")
                for i, (way, kind, param) in enumerate(slot.params):
                    what, type_name = kind_of(abi.base, way, kind)
                    c_type = "ObjectReferenceCallback *" if kind == "ObjectReferenceCallback" else kind
                    put('    %s a%d = ARGUMENT(%s, call, %d, %s, "%s", "%s");' % (
                        c_type, i, c_type, i, what, type_name, param))
                args = "".join(", a%d" % i for i in range(len(slot.params)))
                if slot.ret == "HRESULT":
                    put("    return object->vtbl->%s(object%s);\n}\n" % (slot.name, args))
                else:
                    put("    object->vtbl->%s(object%s);\n    return S_OK;\n}\n" % (slot.name, args))
    put("static const struct slot slots[] = {\n%s\n};\n" % "\n".join(rows))
    put("static const struct face_size face_sizes[] = {\n%s\n};\n" % "\n".join(sizes))

    # The runtime.
    base = [s.name for s in abi.slots("ICorProfilerInfo10")]
    table = []
    for slot in abi.slots("ICorProfilerInfo15"):
        params = "".join(", %s %s" % (kind, name) for _, kind, name in slot.params)
        names = "".join(", %s" % name for _, _, name in slot.params)
        outs = [name for way, kind, name in slot.params if (way != "in" and "*" in kind) or kind == "REFIID"]
        put("static %s stub_%s(ICorProfilerInfo15 *self%s)\n{" % (slot.ret, slot.name, params))
        put("    (void)self;")
        for _, _, name in slot.params:
            put("    (void)%s;" % name)
        if outs:
            put("    if (is_strict && (%s))\n        return E_INVALIDARG;" % " || ".join("!" + n for n in outs))
        if slot.name in base and slot.ret == "HRESULT":
            put("    if (fake_base->%s)\n        return fake_base->%s((ICorProfilerInfo10 *)self%s);" % (
                slot.name, slot.name, names))
        put("    return S_OK;\n}\n" if slot.ret == "HRESULT" else "}\n")
        table.append("    .%s = stub_%s," % (slot.name, slot.name))
    put("static ICorProfilerInfo15Vtbl stub_vtbl = {\n%s\n};" % "\n".join(table))
    with open(sys.argv[3], "w", encoding="utf-8") as f:
        f.write("\n".join(out) + "\n")


if __name__ == "__main__":
    main()
