# SPDX-License-Identifier: MIT
"""traces.py - compares the contexts of samples with what the app traces says about its requests.

usage: traces.py SESSION OUTPUT [late]    late: the session began while the requests ran

Each request computes in methods of its own, so the trace, the span and the endpoint of a sample are known from its
stack. A wrong one is an error; so is a sample without one, unless the runtime was stopped, or was not known yet.
"""
import collections
import glob
import struct
import sys

from samples_file import Samples, raw

RECORD_SAMPLE, RECORD_PAUSE = 1, 6
Stack = collections.namedtuple("Stack", "ips")
errors = []


def read_output(path):
    """{(version, number of the request): (trace, span, span of the child, endpoint)}"""
    requests = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            words = line.rstrip("\n").split(" ", 6)
            if words[0] == "trace":
                requests[words[2], int(words[1])] = (words[3], words[4], words[5], words[6])
    return requests


def method_of(functions):
    """The method that says which request a stack is of: Outer0, Inner3, None, Warm..."""
    for function in functions:
        name = function.split("Traces.Program.")[-1].split("(")[0]
        if function.startswith("Traces.Program.") and (
                name in ("None", "Warm") or name[:5] in ("Outer", "Inner") and name[5:].isdigit()):
            return name
    return None


class Session:
    def __init__(self, path):
        self.samples = Samples(path)
        file, = glob.glob(path + "/*/samples")
        with open(file, "rb") as opened:
            self.data = opened.read()
        self.pauses = []
        for kind, r in raw(self.data):
            if kind == RECORD_PAUSE:
                began, duration, runtime, _, tid = struct.unpack_from("<QQHHI", r, 8)
                self.pauses.append((began, began + duration, tid))

    def __iter__(self):
        """(time, tid, functions, [(trace, span, endpoint, version)]) of each sample"""
        for kind, r in raw(self.data):
            if kind != RECORD_SAMPLE:
                continue
            time, _, tid, _, _, n = struct.unpack_from("<QQIBBH", r, 8)
            ips = struct.unpack_from(f"<{n}Q", r, 32)
            contexts = []
            for at in range(32 + 8 * n, len(r) - 31, 32):
                endpoint, runtime = struct.unpack_from("<IH", r, at + 24)
                contexts.append((r[at:at + 16].hex(), r[at + 16:at + 24].hex(), self.samples.names.get(endpoint),
                                 self.samples.runtimes[runtime]))
            yield time, tid, self.samples.functions(Stack(ips)), contexts

    def is_stopped(self, time, tid):
        """Whether another thread had stopped the runtimes."""
        return any(began - 100000 <= time <= ended + 100000 and by != tid for began, ended, by in self.pauses)


def main():
    session, requests = Session(sys.argv[1]), read_output(sys.argv[2])
    late = len(sys.argv) > 3
    counts, known, lacking, learned = collections.Counter(), collections.Counter(), 0, {}
    for time, tid, functions, contexts in session:
        method = method_of(functions)
        if method is None or method == "Warm":
            continue
        counts[method] += 1
        if method == "None":
            if contexts:
                errors.append(f"a sample of a flow without an Activity has {contexts}")
            continue
        if not contexts:
            lacking += not session.is_stopped(time, tid)
            learned.setdefault("lacking", []).append(time)
            continue
        trace, span, endpoint, version = contexts[0]
        expected = requests.get((version, int(method[5:])))
        right = expected and (trace, span) == (expected[0], expected[1 + (method[:5] == "Inner")])
        if len(contexts) != 1 or not right or endpoint not in (expected[3], None):
            errors.append(f"a sample in {method} has {contexts}, expected {expected}")
        known[version, method] += 1
    wanted = {(version, part + str(number)) for version, number in requests for part in ("Outer", "Inner")}
    for missing in sorted(wanted - set(known)):
        if not late or missing[1].startswith("Inner"):
            errors.append(f"no sample of {missing[1]} in {missing[0]} has a trace")
    if not counts["None"]:
        errors.append("no sample is of the flow without an Activity")
    if not late and lacking * 20 > sum(known.values()):
        errors.append(f"{lacking} samples have no trace, {sum(known.values())} have one")
    print(f"{sum(known.values())} samples have the right trace, {lacking} have none for no reason")
    print("\n".join(errors[:20]))
    return 1 if errors else 0


sys.exit(main())
