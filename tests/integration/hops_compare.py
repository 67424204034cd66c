# SPDX-License-Identifier: MIT
"""hops_compare.py - compares the mixed stack, the managed stack, and the calls that the apps made.

usage: hops_compare.py PREFIX

Reads PREFIX.mixed and PREFIX.managed (printed by sxsprof_print_stack) and PREFIX.expected (written by the
apps: one line "<app> <name>" for each call, youngest first). Prints TAP.
"""
import re
import sys

failed = 0


def check(claim, good, why=""):
    global failed
    check.n += 1
    print("%sok %d - %s" % ("" if good else "not ", check.n, claim))
    if not good:
        failed = 1
        print("# " + why)


check.n = 1


def frames(path):
    rows = [l.rstrip("\n").split("\t") for l in open(path, encoding="utf-8") if l[0] != "#"]
    assert all(len(r) == 5 for r in rows), "five fields a line"
    return rows


def plain(name):
    """Returns Namespace.Type.Method without type arguments, parameters and marks. Keeps the brackets of
    compiler-generated names (<>c, <.cctor>b__19_0), which follow a dot or plus."""
    name = re.sub(r"^\[\w+\] ", "", name)
    name = re.sub(r"(?<=[.+])<([^<>]*)>(?=[a-z])", r"{\1}", name)
    depth, out = 0, ""
    for c in name:
        depth += {"<": 1, "[": 1, ">": -1, "]": -1}.get(c, 0)
        if c == "(" and depth == 0:
            break
        if depth == 0 and c not in ">]":
            out += c
    return out


def differs(a, b):
    at = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
    return "lengths %d, %d; at %d: %r / %r" % (len(a), len(b), at, a[at:at + 1], b[at:at + 1])


prefix = sys.argv[1]
mixed, managed = frames(prefix + ".mixed"), frames(prefix + ".managed")
ends = [open(prefix + s, encoding="utf-8").readlines()[-1].strip() for s in (".mixed", ".managed")]

of_clr = [r[1:] for r in mixed if r[3].startswith("clr")]
with_metadata = [r for r in of_clr if not r[3].startswith("[")]
known = [r[1:] for r in managed if not r[4].startswith("[")]
check("the mixed and the managed stack have the same %d managed frames (SP, IP, owner, name)" % len(known),
      with_metadata == known,
      differs(with_metadata, known))
check("stack pointers increase in both stacks", all(
    int(a[1], 16) < int(b[1], 16) for s in (mixed, managed) for a, b in zip(s, s[1:])))
check("every frame has a name", all(r[4].strip() for r in mixed + managed))
check("the mixed stack has frames of three runtimes and of native code",
      len({r[3] for r in mixed if r[3].startswith("clr")}) == 3 and
      any(r[3].startswith("native:") for r in mixed))
check("both walks reach the bottom of the stack", all("bottom" in e for e in ends), repr(ends))

expected = [l.rstrip("\n").split(" ", 1) for l in open(prefix + ".expected", encoding="utf-8")]
owner_of_app = {}
got = [(r[2], plain(r[3])) for r in of_clr 
       if not r[3].startswith("[stub]") and not r[3].startswith("Sxs.Bridge.")]
wanted = [(app, plain(name)) for app, name in expected]
names_agree = [n for _, n in wanted] == [n for _, n in got]
check("the managed frames are the %d calls that the apps made" % len(wanted), names_agree,
      differs([n for _, n in wanted], [n for _, n in got]))
for (app, _), (owner, _) in zip(wanted, got):
    owner_of_app.setdefault(app, set()).add(owner)
check("each frame belongs to the runtime whose app made it",
      all(len(o) == 1 for o in owner_of_app.values()) and len(owner_of_app) == 3,
      repr(owner_of_app))
sys.exit(failed)
