# SPDX-License-Identifier: MIT
"""pprof_values.py - prints a pprof file: its sample types, the default one, and one line per stack.

usage: pprof_values.py FILE
A line has the values and then the names of the functions, oldest first, separated by ';'.
"""
import gzip
import sys


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7f) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def fields(data):
    """Yields (number, value) of each field of a message; a value is an integer or bytes."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        elif key & 7 == 2:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
        else:
            sys.exit("wire type %d" % (key & 7))
        yield key >> 3, value


def numbers(values):
    """Integers of a repeated field, packed or not."""
    out = []
    for v in values:
        if isinstance(v, int):
            out.append(v)
            continue
        at = 0
        while at < len(v):
            n, at = varint(v, at)
            out.append(n)
    return out


def message(data):
    out = {}
    for number, value in fields(data):
        out.setdefault(number, []).append(value)
    return out


top = message(gzip.open(sys.argv[1]).read())
text = [t.decode() for t in top[6]]
one = lambda m, number: m.get(number, [0])[0]
types = [message(t) for t in top[1]]
print(*("%s/%s" % (text[one(t, 1)], text[one(t, 2)]) for t in types), "default", text[one(top, 14)],
      "period", one(top, 12))
function = {one(f, 1): text[one(f, 2)] for f in map(message, top[5])}
location = {one(v, 1): function[one(message(v[4][0]), 1)] for v in map(message, top[4])}
lines = []
for s in map(message, top.get(2, [])):
    values = numbers(s[2])
    assert len(values) == len(types), values
    lines.append(" ".join(map(str, values)) + " " + ";".join(location[i] for i in reversed(numbers(s[1]))))
print("\n".join(sorted(lines)))
