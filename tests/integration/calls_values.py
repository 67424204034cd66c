# SPDX-License-Identifier: MIT
"""calls_values.py - compares the traced calls of a report with the lines "calls: value ..." of the app.

usage: calls_values.py REPORT.json LOG [any]

Prints the differences, and ends with a line of sums. With "any" the order of the calls may differ, because
several runtimes ran at once.
"""
import difflib
import json
import re
import sys


def plain(name):
    """Turns Type<A>.Method<B> and Type`1.Method into Type.Method."""
    name = re.sub(r"`[0-9]+", "", name)
    out, depth = "", 0
    for c in name:
        depth += c == "<"
        if not depth:
            out += c
        depth -= c == ">"
    return out


want = []
for line in open(sys.argv[2], encoding="utf-8"):
    if "calls: value " in line:
        want.append(line.split("calls: value ", 1)[1].rstrip("\n"))
got = []
for v in json.load(open(sys.argv[1], encoding="utf-8"))["values"]:
    if not v["name"].startswith("Calls.Values"):
        continue
    got.append("%s(%s)%s%s" % (plain(v["name"]), v["arguments"] or "",
                               "" if v["result"] is None else " = " + v["result"],
                               " left by an exception" if v["unwound"] else ""))
if len(sys.argv) > 3:
    want.sort()
    got.sort()
# Optimized code may leave a method by a tail call. The profiler then does not see the result of the method.
for i, g in enumerate(got[:len(want)]):
    if g.endswith(" = <?: left by a tail call>") and want[i].startswith(g[:g.rindex(" = ") + 3]):
        got[i] = want[i]
differ = [line for line in difflib.unified_diff(want, got, "known", "shown", n=0, lineterm="")]
print("\n".join(differ[:20]))
print("%d calls known, %d shown%s" % (len(want), len(got), ", not the same" if differ else ""))
sys.exit(bool(differ) or not want)
