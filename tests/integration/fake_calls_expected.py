# SPDX-License-Identifier: MIT
"""fake_calls_expected.py - compares the hook calls of simulated runtimes with the counts of a report.

usage: fake_calls_expected.py KNOWN REPORT.json MODE [LOST]

KNOWN is the file that the scenario command `known` wrote. LOST is the number of calls that, as the report
says, were counted elsewhere or not at all; if it is not 0, only the sum must be right. Prints each function
whose counts differ, and ends with a line of sums.
"""
import collections
import json
import sys

calls, unwound = collections.Counter(), collections.Counter()
got_calls, got_unwound = collections.Counter(), collections.Counter()
for line in open(sys.argv[1], encoding="utf-8"):
    version, name, n, left = line.split()
    calls[version, name] += int(n)
    unwound[version, name] += int(left)
for f in json.load(open(sys.argv[2], encoding="utf-8"))["functions"]:
    key = f["version"].rsplit(".", 1)[0], f["name"]
    got_calls[key] += f["calls"]
    got_unwound[key] += f["calls_unwound"]
lost = int(sys.argv[4]) if len(sys.argv) > 4 else 0
if lost:
    same = sum(calls.values()) == sum(got_calls.values()) + lost
    differ = [] if same else ["known %d, recorded %d and %d" %
                              (sum(calls.values()), sum(got_calls.values()), lost)]
else:
    differ = ["%s %s: known %d, recorded %d" % (*key, calls[key], got_calls[key])
              for key in sorted(calls.keys() | got_calls.keys()) if calls[key] != got_calls[key]]
    if sys.argv[3] != "count": # this mode has no shadow stack
        differ += ["%s %s: left by exceptions %d, recorded %d" % (*key, unwound[key], got_unwound[key])
                   for key in sorted(calls) if unwound[key] != got_unwound[key]]
print("\n".join(differ[:20]))
print("%d functions, %d calls, %d differ" % (len(calls), sum(calls.values()), len(differ)))
sys.exit(bool(differ) or not sum(calls.values()))
