# SPDX-License-Identifier: MIT
"""heap_retained.py - compares what types and kinds of roots keep alive with a search for what remains without them.

usage: heap_retained.py SNAPSHOT REPORT.json

REPORT.json is what sxsprof heap --format json says of the file SNAPSHOT. Types of the app, those with the most
bytes, and those whose objects keep the most are compared, and all kinds of roots.
"""
import bisect
import json
import sys

import heap_read

TEXTS = {("stack", 0): "stack", ("stack", 1): "stack, pinned", ("finalizer", 0): "finalizer queue",
         ("static", 0): "static field", ("thread static", 0): "thread-static field", ("handle", 0): "strong handle",
         ("handle", 1): "pinned handle", ("handle", 8): "ref-counted handle", ("other", 0): "other"}
snapshot, report = heap_read.Snapshot(sys.argv[1]), json.load(open(sys.argv[2]))


def reach(r, references, without_type=None, without_root=None):
    """The bytes that roots lead to, without the objects of a type, or the roots of a kind."""
    seen, bytes_ = set(), 0
    todo = [o for kind, flags, o, *_ in r.roots
            if not flags & 2 and o in r.objects and (kind, flags & ~4) != without_root]
    while todo:
        at = todo.pop()
        if at in seen or r.names_of[r.objects[at][0]] == without_type:
            continue
        seen.add(at)
        bytes_ += r.objects[at][1] or r.types[r.objects[at][0]][2]
        todo += references[at]
    return bytes_, seen


compared = 0
for r in snapshot.runtimes.values():
    r.names_of = {number: t[0] for number, t in r.types.items()}
    references = {a: [to for to in o[2] if to in r.objects] for a, o in r.objects.items()}
    for primary, secondary, _ in r.dependent:
        if primary in r.objects and secondary in r.objects:
            references[primary].append(secondary)
    addresses = sorted(r.objects)
    for kind, _, o, slot, _ in r.roots: # elements of an array of the runtime: the fields themselves
        at = bisect.bisect_right(addresses, slot) - 1
        if kind in ("static", "thread static") and at >= 0:
            a = addresses[at]
            number, size, _ = r.objects[a]
            if slot < a + (size or r.types[number][2]) and o in references[a]:
                references[a].remove(o)
    everything, alive = reach(r, references)
    lost = {}  # bytes of objects that no root leads to, by type
    for a, (number, size, _) in r.objects.items():
        if a not in alive:
            lost[r.names_of[number]] = lost.get(r.names_of[number], 0) + (size or r.types[number][2])
    rows = [row for row in report["heap"] if row["runtime"] == r.number]
    some = {row["type"]: row["retained_bytes"] for key in ("bytes", "retained_bytes")
            for row in sorted(rows, key=lambda row: -row[key])[:25]}
    some.update((row["type"], row["retained_bytes"]) for row in rows if row["type"].startswith("Memory."))
    for name, retained in some.items():
        expected = everything - reach(r, references, without_type=name)[0] + lost.get(name, 0)
        assert retained == expected, (r.version, name, retained, expected)
        compared += 1
    kinds = {row["kind"]: row["retained_bytes"] for row in report["roots"] if row["runtime"] == r.number}
    for root in {(kind, flags & ~4) for kind, flags, o, *_ in r.roots if not flags & 2 and o in r.objects}:
        expected = everything - reach(r, references, without_root=root)[0]
        assert kinds[TEXTS[root]] == expected, (r.version, root, kinds, expected)
        compared += 1
print(compared, "compared")
assert compared > 50, compared
