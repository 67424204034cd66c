#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reads the costs of the files "samples" below a session folder, and compares them with what the app
memory says that it has allocated. See the table at the end for the commands."""
import collections
import glob
import math
import struct
import sys

HEADER, CHUNK = 4096, 256 << 10
KINDS = 8
N_DROPPED_AT, DROPPED_N_AT, DROPPED_VALUE_AT = 1464, 2224, 2288  # in struct sxs_samples_header
CODE, COST, NAME, RELEASED, LIVE, TOTAL = 4, 8, 9, 10, 11, 12
ALLOCATION = 1

Cost = collections.namedtuple("Cost", "time id n value related tid type runtime kind flags end ips")


class Costs:
    """What one or several files have."""

    def __init__(self, folder):
        self.costs, self.released, self.live, self.totals, self.codes = [], set(), {}, [], []
        self.dropped = 0
        self.paths = paths = glob.glob(folder + "/*/samples") + glob.glob(folder + "/samples")
        if not paths:
            sys.exit("no file samples in " + folder)
        for path in paths:
            self.names = {0: ""}
            with open(path, "rb") as file:
                data = file.read()
            self.dropped += sum(struct.unpack_from("<%dQ" % KINDS, data, N_DROPPED_AT))
            for at in range(HEADER, len(data), CHUNK):
                self.read_chunk(data[at:at + CHUNK])

    def read_chunk(self, chunk):
        used = min(struct.unpack_from("<I", chunk, 8)[0], len(chunk))
        at = 16
        while at + 8 <= used:
            size, mark, kind = struct.unpack_from("<IHH", chunk, at)
            if mark != 0xa5c3 or size < 8:
                break
            self.read_record(kind, chunk[at + 8:at + size])
            at += size

    def read_record(self, kind, r):
        if kind == COST:
            time, number, n, value, related, tid, name, runtime, what, flags, end, _, n_ips = \
                struct.unpack_from("<QQdQQIIHBBBBH", r)
            if what == ALLOCATION:
                ips = struct.unpack_from("<%dQ" % n_ips, r, 56)
                self.costs.append(Cost(time, number, n, value, related, tid, self.names.get(name, "?"),
                                       runtime, what, flags, end, ips))
        elif kind == NAME:
            number, _, size = struct.unpack_from("<IHH", r)
            self.names[number] = r[8:8 + size].decode()
        elif kind == RELEASED:
            self.released.add(struct.unpack_from("<QQ", r)[1])
        elif kind == LIVE:
            _, number, collections_, generation = struct.unpack_from("<QQIB", r)
            self.live[number] = (generation, collections_)
        elif kind == TOTAL:
            name, runtime, what, flags, n, value = struct.unpack_from("<IHBBQQ", r)
            if what == ALLOCATION:
                self.totals.append((runtime, self.names.get(name, "?"), flags, n, value))
        elif kind == CODE:
            _, lo, hi, _, _, _, _, _, _, name_size = struct.unpack_from("<QQQQIIHBBH", r)
            self.codes.append((lo, hi, r[52:52 + name_size].decode()))

    def runtimes(self):
        return sorted({c.runtime for c in self.costs} | {t[0] for t in self.totals})

    def estimate(self, runtime, name, only=lambda cost: True):
        """Returns the estimated number of objects, its standard error, and the number of samples."""
        found = [c for c in self.costs if c.runtime == runtime and c.type == name and only(c)]
        return (sum(c.n for c in found), math.sqrt(sum(c.n * (c.n - 1) for c in found if c.n > 1)),
                len(found))

    def total(self, runtime, name):
        """Returns the exact number of objects. @name: "TYPE", or "TYPE@FLAGS" for some of them."""
        name, _, flags = name.partition("@")
        return sum(t[3] for t in self.totals
                   if t[0] == runtime and t[1] == name and flags in ("", str(t[2])))

    def stack(self, cost):
        names = []
        for i, ip in enumerate(cost.ips):
            names += [name for lo, hi, name in self.codes if lo <= ip - (i > 0) < hi][:1]
        return names


def wanted(words):
    """"TYPE=N..." as pairs. The last '=' separates, because names have others."""
    return [(word.rpartition("=")[0], int(word.rpartition("=")[2])) for word in words]


def exact(costs, words):
    """Each runtime's exact count of each TYPE is N."""
    bad = [(runtime, name, costs.total(runtime, name), n) for runtime in costs.runtimes()
           for name, n in wanted(words) if costs.total(runtime, name) != n]
    for runtime, name, found, n in bad:
        print("runtime %d: %s: %d, expected %d" % (runtime, name, found, n))
    return not bad and bool(costs.runtimes())


def sizes(costs, words):
    """Words TYPE=BYTES: the exact sum of the sizes of each runtime's objects of each TYPE."""
    bad = [(runtime, name, n) for runtime in costs.runtimes() for name, n in wanted(words)
           if sum(t[4] for t in costs.totals if t[:2] == (runtime, name)) != n]
    print("wrong sizes: %s" % bad)
    return not bad and bool(costs.runtimes())


def close(costs, words, only=lambda cost: True, systematic=0.0):
    """Each runtime's estimate for each TYPE is N within 5.5 standard errors and @systematic of N.

    An estimate of few samples has an error of its own that is small where the estimate is low, so it is not held
    against that: the error of the root of an estimate does not depend on it. By chance 4 of 100 million fail.
    """
    good = bool(costs.runtimes()) and not costs.dropped
    if costs.dropped:
        print("%d costs had no room in the file" % costs.dropped)
    for runtime in costs.runtimes():
        for name, n in wanted(words):
            found, error, samples = costs.estimate(runtime, name, only)
            # The objects of a sample but itself: error**2 is the sum of c.n * (c.n - 1), found that of c.n.
            others = error * error / found if found else 0
            within = min(max(found, n * (1 - systematic)), n * (1 + systematic))
            apart = 2 * abs(math.sqrt(found) - math.sqrt(within))
            if abs(found - n) > 4.5 and apart > 5.5 * math.sqrt(others):
                print("runtime %d: %s: %.0f +- %.0f from %d samples, expected %d" %
                      (runtime, name, found, error, samples, n))
                good = False
    return good


def near(costs, words):
    """As close(), with the systematic error that docs/internals/memory.md states for 8.0 and 9.0."""
    return close(costs, words, systematic=0.06)


def live(costs, words):
    """As close(), of the objects that are alive."""
    return close(costs, words, lambda cost: cost.id and cost.id not in costs.released)


def old(costs, words):
    """Words TYPE GENERATION: all objects of TYPE that are alive are of that generation, and there are
    some."""
    for runtime in costs.runtimes():
        seen = [costs.live.get(c.id, (255, 0)) for c in costs.costs
                if c.runtime == runtime and c.type == words[0] and c.id not in costs.released]
        if not seen or any(generation != int(words[1]) or survived < 2 for generation, survived in seen):
            print("runtime %d: %s: generations and survived collections %s" % (runtime, words[0], seen))
            return False
    return bool(costs.runtimes())


def stacks(costs, words):
    """Words TYPE METHOD: most stacks of TYPE have a frame whose name contains METHOD."""
    name, method = words
    for runtime in costs.runtimes():
        found = [c for c in costs.costs if c.runtime == runtime and c.type == name]
        good = sum(any(method in frame for frame in costs.stack(c)) for c in found)
        if not found or good < 0.95 * len(found):
            print("runtime %d: %d of %d stacks of %s have %s" % (runtime, good, len(found), name, method))
            if found:
                print("\n".join(costs.stack(found[0])))
            return False
    return bool(costs.runtimes())


def show(costs, _words):
    for runtime in costs.runtimes():
        types = collections.Counter()
        for c in costs.costs:
            if c.runtime == runtime:
                types[c.type, c.flags] += c.n * c.value
        for (name, flags), size in types.most_common(12):
            n, error, samples = costs.estimate(runtime, name, lambda c, flags=flags: c.flags == flags)
            print(runtime, name, "flags", flags, "bytes %.0f" % size, "n %.0f +- %.0f" % (n, error), samples)
    for row in sorted(costs.totals, key=lambda t: -t[4])[:20]:
        print("total", *row)
    print(len(costs.costs), "costs,", len(costs.released), "released,", len(costs.live), "seen alive")
    return True


def drop(costs, words):
    """Changes the header: as if N records had found no room that stood for OBJECTS in BYTES."""
    for at, n in zip((N_DROPPED_AT, DROPPED_N_AT, DROPPED_VALUE_AT), words):
        with open(costs.paths[0], "r+b") as file:
            file.seek(at + 8 * ALLOCATION)
            file.write(struct.pack("<Q", int(n)))
    return len(costs.paths) == 1


COMMANDS = {"drop": drop, "exact": exact, "close": close, "live": live, "near": near, "old": old, "sizes": sizes, "stacks": stacks, "show": show}
if __name__ == "__main__":
    sys.exit(0 if COMMANDS[sys.argv[1]](Costs(sys.argv[2]), sys.argv[3:]) else 1)
