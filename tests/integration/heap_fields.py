# SPDX-License-Identifier: MIT
"""heap_fields.py - compares the fields of all references in a heap snapshot with those that ClrMD reads from a core
dump of the same process.

usage: heap_fields.py SNAPSHOT SNAPSHOT.json EDGES   EDGES: a line for each reference: path of libcoreclr.so, addresses
of both objects, name of the field

Prints every difference. Fails if one of them is not explained: the runtime has gone on after the snapshot, so that
finalizers have cleared fields of objects that have one."""
import collections
import json
import os
import re
import sys

import heap_read

snapshot = heap_read.Snapshot(sys.argv[1])
finalizable = {(row["runtime"], row["type"]) for row in json.load(open(sys.argv[2]))["heap"] if row["finalizable"]}
theirs = collections.defaultdict(lambda: collections.defaultdict(list))
for line in open(sys.argv[3]):
    path, address, to, name = line.rstrip("\n").split("\t")
    name = re.sub(r"<([^<>]*)>k__BackingField", r"\1", name) # the property's name
    theirs[os.path.realpath(path)][int(address, 16)].append((name, int(to, 16)))
assert len(snapshot.runtimes) == 3
wrong = 0
for r in snapshot.runtimes.values():
    there, same, missing = theirs[os.path.realpath(r.path)], 0, 0
    for address, (number, size, refs) in r.objects.items():
        if not refs:
            continue
        if address not in there:
            missing += 1
            continue
        edges = r.edges(address)
        ours, other = collections.Counter(edges), collections.Counter(there[address])
        lacking = [e for e in edges if e[0] is None or re.search(r"\?", e[0]) and not e[0].endswith("_overlapping.?")]
        if ours == other and not lacking:
            same += len(edges)
            continue
        name = r.type_of(address)
        print("%s: %s at %x: %s; in the dump %s" % (r.version, name, address, list(ours - other)[:9], list(other - ours)[:9]))
        wrong += bool(lacking) or bool(other - ours) or (r.number, name) not in finalizable
    places = [p for p in r.places.values() if [] not in p]
    print("%s: %u references have the same field; %u objects are not in the dump; %u variants; %u objects with places" %
          (r.version, same, missing, len(r.variants), len(places)))
    assert same > 50000 and missing < 200, (r.version, same, missing)
    assert len(r.variants) > 20 and len(places) > 100, "objects with null references are among them"
sys.exit(wrong > 0)
