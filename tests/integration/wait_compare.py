# SPDX-License-Identifier: MIT
"""wait_compare.py - compares the classes of waits in collapsed stacks with what the app contend's threads
wait for.

usage: wait_compare.py COLLAPSED SECONDS RUNTIMES
"""
import collections
import re
import sys

EXPECTED = {
    "k-sleep": "sleep", "k-monitor": "monitor or lock", "k-event": "event", "k-slim": "event",
    "k-task": "task", "k-pulse": "event", "k-join": "end of a thread", "k-socket": "input or output",
    "k-accept": "input or output", "k-usleep": "sleep", "k-read": "input or output",
    "k-lock": "monitor or lock", "k-builds": "sleep", "k-constructor": "class constructor", ".NET TP Worker": "thread pool has no work",
    ".NET Finalizer": "thread of the runtime has no work", ".NET TP Gate": "thread of the runtime has no work",
}
seconds, n_runtimes = float(sys.argv[2]), int(sys.argv[3])
found = collections.defaultdict(collections.Counter)
threads = collections.defaultdict(set)
with open(sys.argv[1], encoding="utf-8") as lines:
    for line in lines:
        stack, weight = line.rstrip("\n").rsplit(" ", 1)
        root, leaf = stack.split(";")[0], stack.split(";")[-1]
        name = re.match(r"(.*) \[\d+\]$", root)[1]
        reason = leaf.removeprefix("wait: ")
        if name == "k-constructor":  # named in 10; before, only native code waits for it, as for a monitor
            old = "Built.Touch" in stack and not re.search(r"\[1\d\.[^]]*\] Contend.Built.Touch", stack)
            assert reason != ("class constructor" if old else "monitor or lock"), stack
            reason = "class constructor" if reason == "monitor or lock" else reason
        found[name][reason] += int(weight) / 1e9
        threads[name].add(root)
for name, reason in EXPECTED.items():
    if name == "k-lock" and name not in found:
        continue # 8 has no such class; checked below
    classes = found[name]
    total = sum(classes.values())
    # The runtime's own threads do some work, for which they wait on a busy machine: that is no wait of theirs.
    works = 0 if name.startswith("k-") else min(classes["processor"], 0.3 * total)
    assert classes[reason] >= 0.9 * (total - works), (name, dict(classes))
    if name.startswith("k-"):
        expected = n_runtimes - (name == "k-lock" and n_runtimes > 1)
        assert len(threads[name]) == expected, (name, threads[name])
        assert total > 0.7 * seconds * expected, (name, total)
        assert total < 1.5 * seconds * expected + 3 * n_runtimes, (name, total)
print("; ".join(sorted({leaf for c in found.values() for leaf in c})))
