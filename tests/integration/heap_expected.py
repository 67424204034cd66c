# SPDX-License-Identifier: MIT
"""heap_expected.py - compares a heap snapshot with what the app "memory" has built.

usage: heap_expected.py SNAPSHOT CHECK...   Each check is a Python expression that must be true for each runtime
r (heap_read.py), or "RUNTIME: EXPRESSION" for one. These functions are available:
  n(TYPE), size(TYPE)         objects of a type, and their bytes
  roots(TYPE, KIND[, FLAGS])  roots of a kind that lead to objects of the type
  named(NAME)                 types of the objects that roots with this name lead to, sorted
  reached(NAME)               {type: objects} that are reachable from the roots with this name
  flags(TYPE)                 flags of a type;  generations(TYPE)  the generations of its objects"""
import collections
import re
import sys

import heap_read

snapshot = heap_read.Snapshot(sys.argv[1])


def functions(r):
    types = {}
    for address, (number, size, _) in r.objects.items():
        types.setdefault(r.types[number][0], []).append((address, size or r.types[number][2]))

    def roots(name, kind, flags=None):
        return sum(1 for k, f, o, *_ in r.roots if k == kind and f == (f if flags is None else flags) and
                   o in r.objects and r.type_of(o) == name)

    def reached(name):
        seen, todo = set(), [o for _, _, o, _, n in r.roots if r.names.get(n) == name]
        while todo:
            at = todo.pop()
            if at not in seen:
                seen.add(at)
                todo += r.objects[at][2]
        return collections.Counter(r.type_of(a) for a in seen)

    return {
        "r": r, "s": snapshot, "roots": roots, "reached": reached,
        "n": lambda name: len(types.get(name, [])),
        "size": lambda name: sum(size for _, size in types.get(name, [])),
        "named": lambda name: sorted(r.type_of(o) for _, _, o, _, n in r.roots if r.names.get(n) == name),
        "flags": lambda name: next((t[1] for t in r.types.values() if t[0] == name), None),
        "generations": lambda name: {r.generation(a) for a, _ in types.get(name, [])},
    }


# True of every complete snapshot.
always = ["r.end is not None", "r.end['status'] == 0", "r.end['objects'] == len(r.objects)",
          "r.end['bytes'] == sum(v[1] for v in r.counts().values())",
          "r.end['references'] == sum(len(o[2]) for o in r.objects.values())",
          "all(a in r.objects for o in r.objects.values() for a in o[2])",
          "all(root[2] in r.objects for root in r.roots)",
          "r.end['types'] == len(r.types)", "all(o[0] in r.types for o in r.objects.values())",
          "not any(t[0].startswith('[') for t in r.types.values())"]
assert snapshot.runtimes, "no runtimes"
assert snapshot.ended and not snapshot.error, "incomplete"
for r in snapshot.runtimes.values():
    known = functions(r)
    for check in always + sys.argv[2:]:
        one = re.match(r"(\d+): ", check)
        if one and int(one[1]) != r.number:
            continue
        text = check[one.end():] if one else check
        if not eval(text, dict(globals(), **known)):
            sys.exit("%s: not so: %s\n%s\n%s" % (r.version, text, r.end, sorted(
                (v, k) for k, v in r.counts().items() if k.startswith("Memory."))))
