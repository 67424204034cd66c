# SPDX-License-Identifier: MIT
"""native_memory.py - reads the costs of native memory in the file "samples" of a session.

usage: native_memory.py SESSION CLAIM...
Prints a line for each claim, and ends with status 1 if one does not hold. A claim is one of
  blocks:BYTES=N     N allocations of so many bytes were made, within five standard deviations
  live:BYTES=N       so many of them have not been released, likewise
  exactly:BYTES=N    N allocations, each of which was recorded
  gone:BYTES         all of them are released
  none:BYTES         none is recorded
  caller:BYTES=TEXT  the stacks of all of them have managed code whose name contains TEXT
  runtime:BYTES=N    that code is of runtime number N
  from:BYTES=FILE    the youngest frame of all of them is in a file whose path ends so
  unmapped:FILE      none is a mapping that a file whose path contains FILE made
  mapped:BYTES=0|1   all of them were mapped, or none
  range:LO-HI=N      N allocations of LO up to HI bytes, like blocks
  livein:LO-HI=N     like live
  within:MIN-MAX     the sum of all bytes recorded, in MiB
  costs:MIN-MAX      number of allocations that are recorded
  lost:MIN-MAX       number of allocations that could not be followed
"""
import math
import os
import struct
import sys

HEADER, CHUNK, MARK = 4096, 256 << 10, 0xA5C3
MODULE, CODE, COST, RELEASED = 3, 4, 8, 10
NATIVE, MAPPED = 2, 4
N_DROPPED_AT = 1464  # n_costs_dropped in struct sxs_samples_header


class Session:
    def __init__(self, folder):
        self.costs, self.released, self.code, self.modules = [], set(), [], []
        self.dropped = 0
        for process in os.listdir(folder):
            path = os.path.join(folder, process, "samples")
            if os.path.exists(path):
                with open(path, "rb") as f:
                    self.read(f.read())
        self.code.sort()

    def read(self, data):
        self.dropped += struct.unpack_from("<8Q", data, N_DROPPED_AT)[NATIVE]
        for at in range(HEADER, len(data), CHUNK):
            end = at + min(struct.unpack_from("<I", data, at + 8)[0], CHUNK)
            at += 16
            while at + 8 <= end:
                size, mark, kind = struct.unpack_from("<IHH", data, at)
                if mark != MARK or size < 8 or size % 8:
                    break
                self.take(kind, data[at + 8:at + size])
                at += size

    def take(self, kind, r):
        if kind == COST and r[50] == NATIVE:
            n_ips = struct.unpack_from("<H", r, 54)[0]
            self.costs.append({
                "id": struct.unpack_from("<Q", r, 8)[0], "n": struct.unpack_from("<d", r, 16)[0],
                "bytes": struct.unpack_from("<Q", r, 24)[0], "flags": r[51],
                "ips": struct.unpack_from("<%dQ" % n_ips, r, 56)})
        elif kind == RELEASED:
            self.released.add(struct.unpack_from("<Q", r, 8)[0])
        elif kind == CODE:
            lo, hi = struct.unpack_from("<QQ", r, 8)
            runtime, name_size = struct.unpack_from("<H2xH", r, 40)
            self.code.append((lo, hi, runtime, r[52:52 + name_size].decode(errors="replace")))
        elif kind == MODULE:
            lo, hi = struct.unpack_from("<QQ", r, 16)
            size = struct.unpack_from("<H", r, 54)[0]
            self.modules.append((lo, hi, r[56:56 + size].decode(errors="replace")))

    def of_size(self, lo, hi):
        return [c for c in self.costs if lo <= c["bytes"] < hi]

    def is_live(self, cost):
        return cost["id"] != 0 and cost["id"] not in self.released

    def managed(self, cost):
        return [(runtime, name) for ip in cost["ips"] for lo, hi, runtime, name in self.code
                if lo <= ip < hi]

    def youngest(self, cost):
        ip = cost["ips"][0] if cost["ips"] else 0
        return next((path for lo, hi, path in self.modules if lo <= ip < hi), "?")


def near(costs, n):
    """Whether the estimate is near n. A cost that stands for w was recorded with the chance 1/w, so each of
    the w has the variance w - 1: on average @spread. The bound is that of n, not of the estimate: of a low
    estimate the bound would be low, too, and too many of these would be wrong by chance."""
    estimate = sum(c["n"] for c in costs)
    spread = sum(c["n"] * max(c["n"] - 1, 0) for c in costs) / estimate if estimate else 0
    bound = 5 * math.sqrt(n * spread) + 1e-3 * n
    return abs(estimate - n) <= bound < n / 2, "%.0f, truth %d, bound %.0f, %d recorded" % (
        estimate, n, bound, len(costs))


def holds(s, what, of, value):
    if what == "unmapped":
        wrong = [c for c in s.costs if c["flags"] & MAPPED and of in s.youngest(c)]
        return not wrong, "%d" % len(wrong)
    lo, _, hi = of.partition("-")
    lo = int(lo)
    costs = s.of_size(lo, int(hi) if hi else lo + 1)
    live = [c for c in costs if s.is_live(c)]
    if what in ("blocks", "range"):
        return near(costs, int(value))
    if what in ("live", "livein"):
        return near(live, int(value))
    if what == "exactly":
        return len(costs) == int(value) and near(costs, int(value))[0], "%d" % len(costs)
    if what == "gone":
        return bool(costs) and not live, "%d of %d" % (len(costs) - len(live), len(costs))
    if what == "none":
        return not costs, "%d" % len(costs)
    if what == "caller":
        with_it = [c for c in costs if any(value in name for _, name in s.managed(c))]
        return bool(costs) and len(with_it) == len(costs), "%d of %d" % (len(with_it), len(costs))
    if what == "runtime":
        others = [c for c in costs if {r for r, _ in s.managed(c)} != {int(value)}]
        return bool(costs) and not others, "%d of %d" % (len(costs) - len(others), len(costs))
    if what == "from":
        files = {s.youngest(c) for c in costs}
        return bool(costs) and all(f.endswith(value) for f in files), " ".join(sorted(files))
    if what == "mapped":
        return bool(costs) and all(bool(c["flags"] & MAPPED) == bool(int(value)) for c in costs), ""
    if what == "within":
        total = sum(c["n"] * c["bytes"] for c in s.costs) / (1 << 20)
        return lo <= total <= int(hi), "%.0f MiB" % total
    if what == "costs":
        return lo <= len(s.costs) <= int(hi), "%d" % len(s.costs)
    if what == "lost":
        lost = sum(c["id"] == 0 for c in s.costs)
        return lo <= lost <= int(hi), "%d" % lost
    raise SystemExit("native_memory.py: no claim '%s'" % what)


def main():
    session, bad = Session(sys.argv[1]), False
    for claim in sys.argv[2:]:
        key, _, value = claim.partition("=")
        what, _, of = key.partition(":")
        good, text = holds(session, what, of, value)
        bad |= not good
        print("%s: %s%s" % (claim, text, "" if good else " <-- wrong"))
    if session.dropped:
        print("%d costs were dropped <-- the estimates are too small" % session.dropped)
        bad = True
    if bad:
        print("%d costs, %d released" % (len(session.costs), len(session.released)))
    sys.exit(bad)


main()
