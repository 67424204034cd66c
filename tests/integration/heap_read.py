# SPDX-License-Identifier: MIT
"""heap_read.py - reads heap snapshots as docs/internals/heap.md describes them, for tests.

It shares no code with the command, so that a mistake in one of the two readers shows."""
import struct

PAGE = 4096
KINDS = {1: "runtime", 2: "types", 3: "objects", 4: "roots", 5: "names", 6: "dependent", 7: "bounds", 8: "end",
         10: "fields", 11: "variants", 12: "places"}
ROOTS = {0: "other", 1: "stack", 2: "finalizer", 3: "handle", 4: "static", 5: "thread static"}


class Payload:
    def __init__(self, data):
        self.data, self.at = data, 0

    def number(self):
        value = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 0x7f) << shift
            if byte < 0x80:
                return value
            shift += 7

    def delta(self, base):
        n = self.number()
        return base + 8 * ((n >> 1) ^ -(n & 1))

    def text(self):
        size = self.number()
        self.at += size
        return self.data[self.at - size:self.at].decode()


class Runtime:
    def __init__(self, number):
        self.number, self.version, self.end, self.how = number, "", None, 0
        self.types, self.objects, self.roots, self.names = {}, {}, [], {}
        self.dependent, self.bounds = [], []
        self.fields, self.variants, self.places = {}, {}, {}
        self.shown = {} # numbers of the objects as the file has them: of a type or a variant

    def type_of(self, address):
        return self.types[self.objects[address][0]][0]

    def counts(self):
        """{name of a type: (objects, bytes)}"""
        out = {}
        for number, size, _ in self.objects.values():
            name, flags, its_size = self.types[number][:3]
            n, total = out.get(name, (0, 0))
            out[name] = n + 1, total + (size or its_size)
        return out

    def slots(self, address):
        """The number of the slot of each reference of an object; None: not known. -1: it is in no slot."""
        number = self.shown[address]
        refs, size = len(self.objects[address][2]), self.objects[address][1]
        type_number, mask = self.variants.get(number, (number, None))
        if type_number not in self.fields:
            return None
        base, step, lead, names = self.fields[type_number]
        size = size or self.types[type_number][2]
        n = (size - base) // step * len(names) if step else len(names)
        places = self.places.get(address)
        if mask is not None:
            assert places is None and not step and mask < 1 << n
            out = [i for i in range(n) if mask >> i & 1]
        elif places is None:
            out = list(range(n))
        elif not places or [] in places:
            return None
        else:
            out, at = [], 0
            for item in places:
                for skip, count in zip(item[::2], item[1::2]):
                    out += range(at + skip, at + skip + count)
                    at += skip + count
            assert at <= n, (address, at, n)
        out = [-1] * lead + out
        return out if len(out) == refs else None

    def edges(self, address):
        """[(name or None, reference)] of an object: "field", "outer.inner", "[index]", "[index].field"."""
        slots, (number, _, refs) = self.slots(address), self.objects[address]
        if slots is None:
            return [(None, to) for to in refs]
        base, step, lead, names = self.fields[number]
        def name(slot):
            text = names[slot % len(names)] if slot >= 0 else ""
            if not step:
                return text or None
            return "[%u]%s%s" % (slot // len(names), text and ".", text) if slot >= 0 else None
        return [(name(slot), to) for slot, to in zip(slots, refs)]

    def generation(self, address):
        for generation, start, size in self.bounds:
            if start <= address < start + size:
                return generation
        return 0


class Snapshot:
    def __init__(self, path):
        data = open(path, "rb").read()
        magic, self.version, self.pid, self.number, self.trigger = struct.unpack_from("<8sIIII", data)
        assert magic == b"SXSHEAP\0" and self.version in (1, 2), (magic, self.version)
        self.realtime, self.started, self.ended, self.used, self.error = struct.unpack_from("<QQQQI", data, 24)
        self.command = data[72 - 8:72 - 8 + 1024].split(b"\0")[0].decode(errors="replace")
        self.runtimes = {}
        assert self.used <= len(data)
        at = PAGE
        while at < self.used:
            magic, size, kind, runtime, count = struct.unpack_from("<IIHHI", data, at)
            assert magic == 0x4b424853 and size % 8 == 0 and at + size <= self.used and size <= 1 << 20
            r = self.runtimes.setdefault(runtime, Runtime(runtime))
            getattr(self, "read_" + KINDS[kind])(r, Payload(data[at + 16:at + size]), count)
            at += size
        for r in self.runtimes.values(): # objects of variants are objects of their types
            for address, (number, size, refs) in r.objects.items():
                r.shown[address] = number
                r.objects[address] = (r.variants.get(number, (number, 0))[0], size, refs)

    def read_runtime(self, r, p, count):
        assert count == 1
        r.how, r.server, r.started = p.number(), p.number(), p.number()
        r.version, r.path = p.text(), p.text()

    def read_types(self, r, p, count):
        for _ in range(count):
            number, flags, size, element = p.number(), p.number(), p.number(), p.number()
            assert number not in r.types
            r.types[number] = (p.text(), flags, size, element, p.text())

    def read_objects(self, r, p, count):
        last = 0
        for _ in range(count):
            address = last = p.delta(last)
            kind = p.number()
            size = p.number() if kind & 1 else 0
            refs = [p.delta(address) for _ in range(p.number())]
            if address in r.objects:
                assert r.objects[address][0] == kind >> 1
                r.objects[address][2].extend(refs)
            else:
                r.objects[address] = (kind >> 1, size, refs)

    def read_roots(self, r, p, count):
        last = 0
        for _ in range(count):
            kind, flags = p.number(), p.number()
            last = p.delta(last)
            r.roots.append((ROOTS[kind], flags, last, p.number(), p.number()))

    def read_names(self, r, p, count):
        for _ in range(count):
            number = p.number()
            r.names[number] = p.text()

    def read_dependent(self, r, p, count):
        last = 0
        for _ in range(count):
            last = p.delta(last)
            r.dependent.append((last, p.delta(last), p.number()))

    def read_bounds(self, r, p, count):
        for _ in range(count):
            r.bounds.append((p.number(), p.number(), p.number()))

    def read_fields(self, r, p, count):
        for _ in range(count):
            number, base, step, lead, n = (p.number() for _ in range(5))
            assert number not in r.fields
            r.fields[number] = (base, step, lead, [p.text() for _ in range(n)])

    def read_variants(self, r, p, count):
        for _ in range(count):
            number = p.number()
            assert number not in r.variants
            r.variants[number] = (p.number(), p.number())

    def read_places(self, r, p, count):
        last = 0
        for _ in range(count):
            last = p.delta(last)
            r.places.setdefault(last, []).append([p.number() for _ in range(p.number())])

    def read_end(self, r, p, count):
        keys = "objects bytes references roots dependent types lacking pause_ns suspend_ns status".split()
        r.end = {key: p.number() for key in keys}
