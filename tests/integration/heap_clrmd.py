# SPDX-License-Identifier: MIT
"""heap_clrmd.py - compares a heap snapshot with what ClrMD reads from a core dump of the same process.

usage: heap_clrmd.py SNAPSHOT.json CLRMD.json

Prints every difference. Fails if one of them is not explained:
- The runtime has gone on after the snapshot: objects that are in the dump only, and objects with a finalizer that
  were collected. None of them is of the app, and they are few.
- Free space is not an object; ClrMD lists it apart.
"""
import json
import os
import re
import sys

snapshot, clrmd = (json.load(open(path)) for path in sys.argv[1:])
assert len(clrmd["runtimes"]) == len(snapshot["runtimes"]) == 3, "every runtime is in the dump"
for runtime in clrmd["runtimes"]:
    assert "types" in runtime and runtime["walkable"] and not runtime["unknown"], runtime
    version = re.search(r"/(\d+\.\d+\.\d+)/libcoreclr\.so$", os.path.realpath(runtime["path"])).group(1)
    number, = [r["runtime"] for r in snapshot["runtimes"] if r["version"] == version]
    ours = {}
    for row in snapshot["heap"]:
        if row["runtime"] == number: # types of the same name in several assemblies are one here
            objects, size = ours.get(row["type"], (0, 0))
            ours[row["type"]] = (objects + row["objects"], size + row["bytes"])
    finalizable = {row["type"] for row in snapshot["heap"] if row["finalizable"]}
    theirs = {name: (t["Objects"], t["Bytes"]) for name, t in runtime["types"].items()}
    later, wrong = 0, []
    for name in sorted(set(ours) | set(theirs)):
        there, here = theirs.get(name, (0, 0)), ours.get(name, (0, 0))
        if there == here:
            continue
        print("%s: %s: %u objects, %u bytes; in the dump %u, %u" % (version, name, *here, *there))
        if (there[0] < here[0] and name not in finalizable) or re.search(r"\b(Memory|Leaks)\.", name):
            wrong.append(name)
        later += abs(there[0] - here[0])
    total = sum(objects for objects, size in ours.values())
    print("%s: %u types, %u objects; %u objects came or went; free space: %s" %
          (version, len(ours), total, later, runtime["free"]))
    assert not wrong, (version, wrong)
    assert total > 15000 and later <= total // 100, (version, later, total)
