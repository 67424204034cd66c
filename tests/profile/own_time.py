# SPDX-License-Identifier: MIT
"""own_time.py - counts samples in a report of any format: with the frame [sxsprof], and with FUNCTION but without
that frame. Prints both numbers. In formats with times instead of samples, one sample is MS long.

usage: own_time.py FORMAT FILE FUNCTION"""
import gzip
import json
import re
import sys

OWN, MS = "[sxsprof]", 5


def collapsed(path):
    for line in open(path, encoding="utf-8"):
        stack, n = line.rsplit(" ", 1)
        yield stack.split(";")[1:], round(int(n) / 1e6 / MS)


def html(path):
    page = open(path, encoding="utf-8").read()
    data = json.loads(re.search(r'<script[^>]*id="data"[^>]*>(.*?)</script>', page, re.S).group(1))
    digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    at = 0

    def number():
        nonlocal at
        value, shift = 0, 0
        while True:
            digit = digits.index(data["nodes"][at])
            at += 1
            value |= (digit & 31) << shift
            shift += 5
            if digit < 32:
                return value
    stack = []
    for _ in range(data["nNodes"]):
        del stack[max(0, len(stack) - number()):]
        frame, count, _weight, _tiers = number(), number(), number(), number()
        stack.append(data["strings"][data["frames"][frame][0]] if stack else None)
        yield stack[1:], count


def speedscope(path):
    data = json.load(open(path, encoding="utf-8"))
    names = [f["name"] for f in data["shared"]["frames"]]
    for profile in data["profiles"]:
        for stack, ns in zip(profile["samples"], profile["weights"]):
            yield [names[f] for f in stack], round(ns / 1e6 / MS)


def firefox(path):
    for t in json.load(open(path, encoding="utf-8"))["threads"]:
        names = [t["stringArray"][i] for i in t["funcTable"]["name"]]
        for s in t["samples"]["stack"]:
            stack = []
            while s is not None:
                stack.append(names[t["frameTable"]["func"][t["stackTable"]["frame"][s]]])
                s = t["stackTable"]["prefix"][s]
            yield stack[::-1], 1


def chrome(path):
    """Yields the name and the samples of each event, except for events within an event [sxsprof]."""
    threads = {}
    for e in json.load(open(path, encoding="utf-8"))["traceEvents"]:
        if e["ph"] == "X" and e.get("cat") != "pause":
            threads.setdefault((e["pid"], e["tid"]), []).append(e)
    for events in threads.values():
        own_until = 0
        for e in sorted(events, key=lambda e: (e["ts"], -e["dur"])):
            n = round(e["dur"] / 1000 / MS)
            if e["name"] == OWN:
                own_until = e["ts"] + e["dur"]
                yield [OWN], n
            elif e["ts"] >= own_until:
                yield [e["name"]], n


def fields(data):
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value
    while at < len(data):
        key = varint()
        if key & 7 == 0:
            yield key >> 3, varint()
        else:
            size = varint()
            at += size
            yield key >> 3, data[at - size:at]


def packed(data):
    value = shift = 0
    for byte in data:
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            yield value
            value = shift = 0


def pprof(path):
    strings, functions, places, samples = [], {}, {}, []
    for field, value in fields(gzip.open(path).read()):
        if field == 6:
            strings.append(value.decode())
        elif field == 5:
            f = dict(fields(value))
            functions[f[1]] = f[2]
        elif field == 4:
            place = dict(fields(value))
            places[place[1]] = dict(fields(place[4]))[1]
        elif field == 2:
            samples.append(dict(fields(value)))
    for s in samples:
        stack = [strings[functions[places[p]]] for p in packed(s.get(1, b""))]
        yield stack[::-1], next(packed(s[2]))


def main():
    read, path, function = globals()[sys.argv[1]], sys.argv[2], sys.argv[3]
    own = others = 0
    for stack, n in read(path):
        if OWN in stack:
            assert stack[0] == OWN, "not at the root: %s" % stack
            own += n
        elif any(function in name for name in stack):
            others += n
    print(own, others)


main()
