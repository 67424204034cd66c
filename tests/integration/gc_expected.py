# SPDX-License-Identifier: MIT
"""gc_expected.py - compares a report of the tool "gc" with what the app "collections" got from its runtime.

usage: gc_expected.py FOLDER WORD    FOLDER has s.json and out.*; WORD: what to compare
"""
import glob
import json
import os
import statistics
import sys

folder, word = sys.argv[1:]
report = json.load(open(os.path.join(folder, "s.json")))
numbers = {r["version"]: r["runtime"] for r in report["runtimes"]}
apps = []
for path in glob.glob(os.path.join(folder, "out.*")):
    lines = [json.loads(line) for line in open(path)]
    gcs = [g for g in report["collections"] if g["version"] == lines[0]["version"]]
    apps.append((lines[0], lines[1:], gcs, {g["number"]: g for g in gcs}))
assert apps, "no app has written anything"


def sums(gc, member):
    return [g[member] for g in gc["generations"]]


if word == "churn":
    for total, lines, gcs, by_number in apps:
        known = [g for g in gcs if g["number"] <= total["last"]]
        assert [g["number"] for g in known] == list(range(1, total["last"] + 1)), total
        kinds = [g["type"] for g in known]
        print(total["version"], {k: kinds.count(k) for k in set(kinds)})
        assert kinds.count("background") >= 5 and kinds.count("foreground") >= 1, kinds
        assert all("promoted_bytes" in g and "freed_bytes" in g and "duration_ns" in g for g in known), known
        assert all(len(g["pauses"]) == 2 for g in known if g["type"] == "background"), known
        for i, g in enumerate(known): # a foreground collection is within one of the background
            end = g["time_ns"] + g["duration_ns"]
            if g["type"] == "foreground":
                assert any(b["type"] == "background" and b["time_ns"] <= g["time_ns"] and
                           end <= b["time_ns"] + b["duration_ns"] for b in known), g
        ours = sum(g["pause_ns"] for g in known)
        assert ours * 2 > total["pause_ns"], (ours, total)
    sys.exit(0)

for total, lines, gcs, by_number in apps:
    version = total["version"]
    assert len(lines) >= 8, (version, len(lines))
    assert [g["number"] for g in gcs] == list(range(1, len(gcs) + 1)), "each collection once: %s" % version
    for line in lines:
        gc = by_number[line["number"]]
        where = "%s, collection %u: %s, %s" % (version, line["number"], line, gc)
        if word == "kinds":
            assert gc["generation"] == line["generation"] >= line["asked"], where
            assert gc["reason"] == line["reason"], where
            assert gc["concurrent"] == bool(line["concurrent"]), where
            assert (gc["type"] == "background") == gc["concurrent"], where
            assert gc["compacting"] == bool(line["compacted"]), where
            assert len(gc["pauses"]) == 2 or not gc["concurrent"], where
        elif word == "bytes":
            assert gc["promoted_bytes"] == line["promoted"], where
            assert gc["heap_bytes"] == line["heap"], where
            # Of a background collection, the runtime's own sum is not that of its generations.
            assert gc["fragmentation_bytes"] == line["fragmented"] or gc["concurrent"], where
            assert sums(gc, "before_bytes") == line["before"], where
            assert sums(gc, "fragmentation_before_bytes") == line["free_before"], where
            assert sums(gc, "size_bytes") == line["after"], where
            assert sums(gc, "fragmentation_bytes") == line["fragmentation"], where
            collected = gc["generations"][:gc["generation"] + 1]
            if not gc["concurrent"]:
                assert sum(g["freed_bytes"] for g in collected) >= 1000 * 100, where
        elif word == "objects":
            assert gc["pinned_objects"] == line["pinned"] and gc["finalizable_objects"] == line["finalizable"], where
            assert gc["handles"] >= 5, where
        elif word == "pauses":
            assert gc["suspension_ns"] <= gc["pause_ns"], where
            assert sum(p["pause_ns"] for p in gc["pauses"]) == gc["pause_ns"], where
        elif word == "blocking":
            assert gc["type"] == "blocking" and not gc["concurrent"], where
        elif word == "server":
            assert total["server"] == 1 and 1 <= gc["heaps"] <= 2, where
    if word == "pauses":
        # The runtime's clock stops before threads are resumed, and it counts in us. On a busy machine, the thread
        # that collects may have to wait between the runtime's look at the clock and its event: then single
        # pauses differ, in which threads stood still, but not half of them.
        errors = [abs(by_number[line["number"]]["pause_ns"] - line["pause_ns"]) for line in lines]
        longest = max(line["pause_ns"] for line in lines)
        assert statistics.median(errors) <= max(200000, longest // 50), (version, sorted(errors), longest)
    if word == "finalizers":
        counted = sum(g["finalized_objects"] for g in gcs)
        assert counted >= total["finalized"] == 7 * len(lines), (version, counted, total)
        assert all(g["finalizers_ns"] or not g["finalized_objects"] for g in gcs), version
    if word == "forced":
        assert total["forced"] == 1 and total["forced_here"] == 1, total
if word == "forced":
    assert len(apps) == 3 and len(numbers) == 3
if word == "kinds" and not os.environ.get("DOTNET_gcConcurrent"):
    print([(g["version"], g["number"], g["type"]) for g in report["collections"] if g["type"] == "background"])
print("%u apps are as they should be" % len(apps))
