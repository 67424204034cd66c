# SPDX-License-Identifier: MIT
"""samples_file.py - reads the records of a file "samples" that tests need (docs/internals/session.md)."""
import bisect
import collections
import glob
import struct

RECORD_CODE, RECORD_RUNTIME, RECORD_COST, RECORD_NAME, RECORD_TOTAL, RECORD_POOL = 4, 5, 8, 9, 12, 13
LOCK, LOCK_OWNER = 3, 4
OPEN = 8
Cost = collections.namedtuple(
    "Cost", "time id n value related tid name runtime kind flags end zero n_ips ips")
Total = collections.namedtuple("Total", "name runtime kind flags n value")
Pool = collections.namedtuple("Pool", "time value runtime change reason")


def raw(data):
    """Yields (type, bytes) of each record."""
    chunk_size = struct.unpack_from("<I", data, 12)[0]
    for chunk in range(4096, len(data) - 15, chunk_size):
        at = chunk + 16
        end = min(chunk + min(struct.unpack_from("<I", data, chunk + 8)[0], chunk_size), len(data))
        while at + 8 <= end:
            size, _, kind = struct.unpack_from("<IHH", data, at)
            if size < 8:
                break
            yield kind, data[at:at + size]
            at += size


class Samples:
    """The costs, totals and changes of pools in the session folder of one process."""

    def __init__(self, session):
        path, = glob.glob(session + "/*/samples")
        with open(path, "rb") as file:
            data = file.read()
        self.names, self.runtimes = {}, {}
        self.costs, self.totals, self.pools, self.code = [], [], [], []
        for kind, r in raw(data):
            if kind == RECORD_NAME:
                number, _, size = struct.unpack_from("<IHH", r, 8)
                self.names[number] = r[16:16 + size].decode()
            elif kind == RECORD_RUNTIME:
                number, size = struct.unpack_from("<IH", r, 8)
                self.runtimes[number] = r[16:16 + size].decode()
            elif kind == RECORD_COST:
                fields = struct.unpack_from("<QQdQQIIHBBBBH", r, 8)
                self.costs.append(Cost(*fields, struct.unpack_from(f"<{fields[-1]}Q", r, 64)))
            elif kind == RECORD_TOTAL:
                self.totals.append(Total(*struct.unpack_from("<IHBBQQ", r, 8)))
            elif kind == RECORD_POOL:
                self.pools.append(Pool(*struct.unpack_from("<QIHBB", r, 8)))
            elif kind == RECORD_CODE:
                lo, hi = struct.unpack_from("<QQ", r, 16)
                size = struct.unpack_from("<H", r, 52)[0]
                self.code.append((lo, hi, r[64 - 4:64 - 4 + size].decode(errors="replace")))
        self.code.sort()

    def functions(self, cost):
        """The names of the managed functions in a cost's stack, youngest first."""
        found = []
        for i, ip in enumerate(cost.ips):
            at = bisect.bisect(self.code, (ip - (i > 0), 1 << 64)) - 1
            if at >= 0 and self.code[at][0] <= ip - (i > 0) < self.code[at][1]:
                found.append(self.code[at][2])
        return found
