# SPDX-License-Identifier: MIT
"""trace_values.py - checks that the values of traced calls of Work.Told are those that the app passed.

All values of a call contain the number n of the call.

trace_values.py REPORT.json ROUNDS RUNTIMES: prints the first wrong calls, then a line of sums. Status 1 when
a call is wrong or missing.
"""
import json
import re
import sys

rounds, runtimes = int(sys.argv[2]), int(sys.argv[3])
top = json.load(open(sys.argv[1], encoding="utf-8"))
rows = [r for r in top["values"] if r["name"].endswith("Work.Told")]
seen, bad, early = {}, [], 0
for r in rows:
    m = re.match(r"n = (\d+), ", r["arguments"] or "")
    if not m:
        bad.append(r)
        continue
    n = int(m.group(1))
    value = {0: "%d" % n, 1: '"v%d"' % n, 2: '{Text = "p%d", N = %d}' % (n, n)}[n % 3]
    threw = n % 10 == 9
    want = {
        "arguments": 'n = %d, text = "t%d", pair = {Text = "p%d", N = %d}, value = %s, by = "a%d", made = <out>'
                     % (n, n, n, n, value, n),
        "result": None if threw else value,
        "after": 'by = "b%d", made = {Text = "m%d", N = %d}' % (n, n, n),
        "exception": 'System.InvalidOperationException: "e%d"' % n if threw else None,
        "unwound": threw, "label": "told"}
    # A runtime reports a type to the library after other threads may already use the type, so that the type
    # of the first exceptions of each thread may be unknown.
    if threw and r["exception"] == "<?: type not known>":
        early += 1
        want["exception"] = r["exception"]
    if any(r[k] != v for k, v in want.items()) or r["duration_ns"] is None:
        bad.append((want, r))
    seen[(r["runtime"], n)] = seen.get((r["runtime"], n), 0) + 1
for b in bad[:5]:
    print(b)
print("%d calls, %d of %d known ones, %d wrong" % (len(rows), len(seen), 16 * rounds * runtimes, len(bad)))
sys.exit(bool(bad) or early > 16 * runtimes or len(rows) != len(seen) or len(seen) != 16 * rounds * runtimes)
