# SPDX-License-Identifier: MIT
"""calls_expected.py - compares recorded counts with the counts that the app "calls" printed.

usage: calls_expected.py REPORT.json LOG [all]

Prints each function whose counts differ, and ends with a line of sums. Compares only functions that were
recorded, or with "all" every function. The counts of all versions of a function are added up.
"""
import json
import re
import sys


def plain(name):
    """Turns Type<A>.Method<B>(C) into Type.Method. Keeps names that begin with a bracket."""
    out, depth = "", 0
    for i, c in enumerate(name):
        if c == "(" and not depth:
            break
        if c == "<" and (depth or (i and (name[i - 1].isalnum() or name[i - 1] == "_"))):
            depth += 1
        elif c == ">" and depth:
            depth -= 1
        elif not depth:
            out += c
    return out


known, got = {}, {}
for line in open(sys.argv[2], encoding="utf-8", errors="replace"):
    found = re.search(r"calls: known (\d+) (\S+)", line)
    if found:
        known[found[2]] = known.get(found[2], 0) + int(found[1])
for function in json.load(open(sys.argv[1], encoding="utf-8"))["functions"]:
    name = plain(function["signature"])
    got[name] = got.get(name, 0) + function["calls"]
whole = "all" in sys.argv[3:]
differ = ["%s: known %d, recorded %d" % (name, n, got.get(name, 0)) for name, n in sorted(known.items())
          if got.get(name, 0) != n and (whole or name in got)]
print("\n".join(differ[:20]))
print("%d functions, %d calls, %d differ" % (len(known), sum(known.values()), len(differ)))
sys.exit(bool(differ) or not sum(known.values()))
