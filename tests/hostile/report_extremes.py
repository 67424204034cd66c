# SPDX-License-Identifier: MIT
"""report_extremes.py - writes sessions of legal form that are costly for readers: report_extremes.py KIND DIR

Sizes and marks are right; references lead where a stranger wants. KINDS, at the end of this file, says what each kind
is. There are millions of records, so they are made column by column.
"""
import array, os, struct, sys

MARK, CHUNK, PID = 0xa5c3, 256 << 10, 4242
HUGE = (1 << 64) - 1
NUMBER = b"00000000"  # in a text: the record's own number takes its place


def u32(values):
    return array.array("I", values)


def halves(value):
    return value & 0xffffffff, value >> 32


# ---- files of chunks: samples, events, instrument, traced ----


def rows(n, kind, text_at, fixed=None, columns=None, text=b""):
    """Yield n records of a type, some at a time. text_at: offset of the text, or size without one; fixed: {word:
    value}; columns: {word: function that returns the values of a range of records}."""
    size = (text_at + len(text) + 7) & ~7
    per = (CHUNK - 16) // size
    record = bytearray(size)
    struct.pack_into("<IHH", record, 0, size, MARK, kind)
    for word, value in (fixed or {}).items():
        struct.pack_into("<I", record, 4 * word, value & 0xffffffff)
    record[text_at:text_at + len(text)] = text
    record += bytes(size - len(record))
    block, at = u32(bytes(0)), text.find(NUMBER)
    block.frombytes(bytes(record) * min(per, n))
    for first in range(0, n, per):
        numbers = range(first, min(first + per, n))
        part = block[:len(numbers) * size // 4]
        for word, column in (columns or {}).items():
            part[word::size // 4] = u32(column(numbers))
        out = bytearray(part.tobytes())
        if at >= 0:
            digits = b"".join(b"%08d" % i for i in numbers)
            for digit in range(8):
                out[text_at + at + digit::size] = digits[digit::8]
        yield bytes(out)


def write_chunks(path, head, n_chunks_at, parts):
    """Write a file of chunks. head: its first bytes; n_chunks_at: where they have the numbers of chunks."""
    with open(path, "wb") as to:
        to.write(bytes(4096))
        count = 0
        for part in parts:
            used = 16 + len(part)
            to.write(struct.pack("<IIII", 0x4b484353, count, used, 0) + part)
            to.seek(4096 + (count + 1) * CHUNK)
            count += 1
        to.truncate(4096 + count * CHUNK)
        head = bytearray(head)
        struct.pack_into("<II", head, n_chunks_at, count, count)
        to.seek(0)
        to.write(head)


def samples_file(path, parts, costs=False):
    head = bytearray(1688)
    struct.pack_into("<8sIIIHHIIQQ", head, 0, b"SXSSAMP", 1, CHUNK, PID, 0 if costs else 1, 1, 200, 1, 17 * 10**17, 10**9)
    struct.pack_into("<Q", head, 64, 0 if costs else 1000)  # samples
    if costs:
        struct.pack_into("<4Q", head, 1528, 0, 100000, 1, 1)  # one of so many bytes is recorded
        struct.pack_into("<2Q", head, 1592, 0, 1)  # which are alive
    write_chunks(path, head, 56, parts)


def events_file(path, parts):
    head = bytearray(1096)
    struct.pack_into("<8sIIIIQQ", head, 0, b"SXSEVNT", 1, CHUNK, PID, 7, 17 * 10**17, 10**9)
    write_chunks(path, head, 48, parts)


def instrument_file(path, parts):
    head = bytearray(1240)
    struct.pack_into("<8sIIIIQQQQQ", head, 0, b"SXSINST", 1, CHUNK, PID, 0, 17 * 10**17, 1, 1, 10**9, 10**9)
    write_chunks(path, head, 72, parts)


def traced_file(path, parts):
    head = bytearray(40)
    struct.pack_into("<8sIII", head, 0, b"SXSTRCD", 1, CHUNK, PID)
    write_chunks(path, head, 20, parts)


def sample(n, tid=None, ip=None, ips=1, fixed=None):
    """Samples with stacks of `ips` addresses. tid, ip: functions of a range, the latter for the youngest frame."""
    words = {2: lambda r: [10**9 + i & 0xffffffff for i in r], 6: tid or (lambda r: [100] * len(r)),
             8: ip or (lambda r: [0x10000000] * len(r))}
    return rows(n, 1, 32 + 8 * ips, {3: 0, 4: 5000000, 7: ips << 16, **(fixed or {})}, words)


def code(n, name, first=0):
    """Methods with a name and 16 bytes of machine code each, from 0x10000000 on."""
    return rows(n, 4, 60, {2: 1, 12: 1, 13: len(name)},
                {4: lambda r: [0x10000000 + 16 * (first + i) for i in r],
                 6: lambda r: [0x10000010 + 16 * (first + i) for i in r], 8: lambda r: r}, name)


def numbered_ip(r):
    return [0x10000000 + 16 * i for i in r]


def chain(*lists):
    for part in lists:
        yield from part


# ---- the file "calls": cells ----

CELLS = 1024


class Calls:
    def __init__(self, n):
        self.cells, self.next, self.head = bytearray(64 * n), 1, {}

    def take(self, n=1):
        if self.next % CELLS + n > CELLS:
            self.next = (self.next // CELLS + 1) * CELLS
        self.next += self.next % CELLS == 0
        self.next += n
        return self.next - n

    def put(self, ref, form, *values, at=0):
        struct.pack_into("<" + form, self.cells, 64 * ref + at, *values)
        return ref

    def function(self, number, after, name=b"A.F", ref=0):
        return self.put(ref or self.take(), "IIQIIHHIIIQ16s", after, number, number, 0, 1, len(name), 0, 0, 1, 0, 0, name)

    def node(self, ref, parent, function, child=0, sibling=0, calls=1, ticks=1, self_ticks=0):
        return self.put(ref, "IIQQQIIIIQII", parent, function, calls, ticks, 0, child, sibling, 0, 0, self_ticks, 0, 0)

    def thread(self, ref, after, root, tid=100, events=0):
        self.put(ref, "IIII", after, root, tid, 0)
        return self.put(ref, "16sII", b"main", events, 0, at=80)

    def write(self, path, mode=3, blocks=0):
        n = (self.next + CELLS - 1) // CELLS
        self.cells += bytes(max(0, n * 65536 - len(self.cells)))
        for i in range(n):
            struct.pack_into("<III", self.cells, i * 65536, 0x4b4e4843, i, 0)
        head = bytearray(4096)
        struct.pack_into("<8sIIIIQQQQQ", head, 0, b"SXSCALL", 2, 65536, PID, mode, 17 * 10**17, 0, 1, 10**9, 10**9)
        struct.pack_into("<IIIIII", head, 72, n, n, n, 0, self.head.get("functions", 0), self.head.get("threads", 0))
        struct.pack_into("<IIII", head, 1144, blocks, blocks, self.head.get("notes", 0), 0)
        with open(path, "wb") as to:
            to.write(head + self.cells[:n * 65536])


def calls_cycles(path):
    """Every list and every reference leads back to itself or to its beginning."""
    c = Calls(1 << 12)
    functions, nodes = [c.take() for _ in range(3)], [c.take() for _ in range(6)]
    threads, notes, blocks = [c.take(2) for _ in range(3)], [c.take() for _ in range(2)], [c.take(255) for _ in range(2)]
    for i, ref in enumerate(functions):
        c.function(i, functions[(i + 1) % 3], ref=ref)
    for i, ref in enumerate(nodes):  # child, sibling and parent of each are the next, the one after that, and itself
        c.node(ref, nodes[i - 1] if i % 2 else ref, functions[i % 3], nodes[(i + 1) % 6], nodes[(i + 2) % 6])
    for i, ref in enumerate(threads):
        c.thread(ref, threads[(i + 1) % 3], nodes[i], 100 + i, blocks[i % 2])
    for i, ref in enumerate(blocks):
        c.put(ref, "I", blocks[1 - i])
        for k in range(1000):
            c.put(ref, "QII", k + 1, nodes[k % 6], 1 + k % 2, at=64 + 16 * k)
    for i, ref in enumerate(notes):
        c.put(ref, "IIIIIIQQ", notes[1 - i], 1 + i, 1, 8, functions[0], 0, HUGE, HUGE)
    c.head = {"functions": functions[0], "threads": threads[0], "notes": notes[0]}
    c.write(path, blocks=4)


def calls_wide(path, n_threads, n_functions, calls=1, ticks=1):
    """Threads with one call each, of different functions."""
    c = Calls(4 * n_threads + n_functions + 4096)
    functions, last, thread = [], 0, 0
    for i in range(n_functions):
        last = c.function(i, last, b"A.F%d" % i)
        functions.append(last)
    for i in range(n_threads):
        root, node = c.take(), c.take()
        c.node(root, 0, 0, child=node)
        c.node(node, root, functions[i % n_functions], calls=calls, ticks=ticks)
        thread = c.thread(c.take(2), thread, root, 100 + i)
    c.head = {"functions": last, "threads": thread}
    c.write(path)


# ---- heap snapshots ----


def varint(n):
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    out.append(n)
    return bytes(out)


def delta(n):
    return varint(n << 1 if n >= 0 else (-n << 1) - 1)


def text(s):
    return varint(len(s)) + s


def heap_file(path, types, objects, roots):
    """types: names; objects: (delta to the one before, type, deltas of references), all in units of 8 bytes; roots:
    deltas."""
    blocks = []

    def add(kind, items):
        part, count = bytearray(), 0
        for item in list(items) + [None]:
            if part and (item is None or len(part) + len(item) > 1000000):
                part += bytes(-len(part) % 8)
                blocks.append(struct.pack("<IIHHI", 0x4b424853, 16 + len(part), kind, 1, count) + part)
                part, count = bytearray(), 0
            if item is not None:
                part += item
                count += 1

    add(1, [varint(1) + varint(0) + varint(10**9) + text(b"8.0.29") + text(b"/net/libcoreclr.so")])
    add(2, (varint(i + 1) + b"\0" + varint(24) + b"\0" + text(name) + text(b"/app.dll") for i, name in enumerate(types)))
    part, at, count, first = bytearray(), 0, 0, True
    for step, kind, references in objects:  # the address of the first object of a block is its delta to 0
        at += step
        part += delta(at if first else step) + varint(kind * 2) + varint(len(references))
        for reference in references:
            part += delta(reference)
        count, first = count + 1, False
        if len(part) > 1000000:
            part += bytes(-len(part) % 8)
            blocks.append(struct.pack("<IIHHI", 0x4b424853, 16 + len(part), 3, 1, count) + part)
            part, count, first = bytearray(), 0, True
    part += bytes(-len(part) % 8)
    blocks.append(struct.pack("<IIHHI", 0x4b424853, 16 + len(part), 3, 1, count) + part)
    add(4, (varint(1) + b"\0" + delta(root) + b"\0\0" for root in roots))
    add(8, [b"\0" * 10])
    body = b"".join(blocks)
    head = struct.pack("<8sIIIIQQQQII", b"SXSHEAP", 1, PID, 1, 3, 17 * 10**17, 10**9, 2 * 10**9, 4096 + len(body), 0, 0)
    with open(path, "wb") as to:
        to.write(head + bytes(4096 - len(head)) + body)


def heap_objects(n, references):
    """n objects, 24 bytes apart; references: function of the number of an object, which returns numbers of objects."""
    yield 0x10000000 // 8, 1, [3 * k for k in references(0)]
    for i in range(1, n):
        yield 3, 1, [3 * (k - i) for k in references(i)]


# ---- sessions ----


def census(n_runtimes=1):
    out = struct.pack("<8sIIIIQIIHHIQ1024s", b"SXSCENS", 1, 1080 + 64 * 656, 656, PID, 17 * 10**17, n_runtimes, 0, 0, 0, 0,
                      0, b"app")
    for i in range(n_runtimes):
        out += struct.pack("<II9Q64s512s", 1, i + 1, *[HUGE if n_runtimes == 2 else 1] * 7, 0, 0, b"8.0.29",
                           b"/net/libcoreclr.so")
    return out + bytes(1080 + 64 * 656 - len(out))


def write_processes(folder, n, runtimes, files=()):
    """Folders of n processes, which are one census, and files, under many names."""
    os.makedirs(folder, exist_ok=True)
    first = os.path.join(folder, "1")
    os.mkdir(first)
    with open(first + "/census", "wb") as to:
        to.write(census(runtimes))
    for name, write in files:
        write(f"{first}/{name}")
    for i in range(2, n + 1):
        at = os.path.join(folder, str(i))
        os.mkdir(at)
        for name in ["census"] + [name for name, _ in files]:
            os.link(f"{first}/{name}", f"{at}/{name}")


def one(name, write, *args):
    """A session of one process with one file."""
    return lambda folder: write_processes(folder, 1, 1, [(name, lambda path: write(path, *args))])


LONG = b"N" * 65000 + NUMBER


def threads(n):
    """Threads with a name and a sample each."""
    yield from rows(n, 2, 64, {10: 0x65726854, 11: 0x6461}, {2: lambda r: [100 + i for i in r]})
    yield from sample(n, tid=lambda r: [100 + i for i in r])


def methods(n, name=b"N" + NUMBER):
    yield from code(n, name)
    yield from sample(n, ip=numbered_ip)


def modules(n):
    path = b"/lib/lib" + NUMBER + b".so"
    yield from rows(n, 3, 64, {2: 1, 15: len(path) << 16}, {6: numbered_ip, 8: lambda r: [16 + a for a in numbered_ip(r)]},
                    path)
    yield from sample(n, ip=numbered_ip)


def runtimes(n):
    yield from rows(n, 5, 16, {3: 6 | 8 << 16}, {2: lambda r: [i + 1 for i in r]}, b"8.0.29" + NUMBER)
    yield from rows(n, 4, 60, {2: 1, 13: 9}, {4: numbered_ip, 6: lambda r: [16 + a for a in numbered_ip(r)],
                                              12: lambda r: [1 + i & 0xffff for i in r]}, b"N" + NUMBER)
    yield from sample(n, ip=numbered_ip)


def tree(n):
    """Stacks as deep as they can be, of which each begins with a method of its own."""
    yield from code(n + 512, b"N" + NUMBER)
    yield from rows(n, 1, 32 + 8 * 512, {2: 10**9, 4: 5000000, 6: 100, 7: 512 << 16},
                    {8 + 2 * k: (lambda r, k=k: [0x10000000 + 16 * (i + k & 0xffff) for i in r]) for k in range(512)})


def tiny(n):
    """One sample in each chunk."""
    for i in range(n):
        yield from sample(1)


def weights(n):
    """Samples that stand for the longest time."""
    return sample(n, fixed={4: 0xffffffff, 5: 0xffffffff})


def cost(n, columns=None, fixed=None):
    """Allocated objects: of `n` each (a double, 1.0), 24 bytes."""
    return rows(n, 8, 72, {2: 10**9, 6: 0, 7: 0x3ff00000, 8: 24, 12: 100, 14: 1 | 1 << 16, 15: 1 << 16, 16: 0x10000000,
                           **(fixed or {})}, {4: lambda r: [i + 1 for i in r], **(columns or {})})


def types(n):
    yield from rows(n, 9, 16, {3: 1 | 9 << 16}, {2: lambda r: [i + 1 for i in r]}, b"T" + NUMBER)
    yield from cost(n, {13: lambda r: [i + 1 for i in r]})


def big_costs(n):
    """Objects of nearly 2^63 bytes together, each, and exact counts near 2^64: no sum fits."""
    yield from rows(n, 9, 16, {3: 1 | 9 << 16}, {2: lambda r: [i + 1 for i in r]}, b"T" + NUMBER)
    yield from cost(n, {13: lambda r: [i + 1 for i in r]}, {8: 0xfffff000, 9: 0x3fffffff})
    yield from rows(n, 12, 32, {3: 1 | 1 << 16, 4: ~5, 5: ~0, 6: ~5, 7: ~0}, {2: lambda r: [i + 1 for i in r]})


def spans(n):
    """Compilations and threads, each with a text of its own."""
    yield from rows(n, 4, 44, {2: 10**9, 4: 1000, 7: 1 | 4 << 16, 8: 100, 10: 9 << 16}, {6: lambda r: [100 + i for i in r]},
                    b"M" + NUMBER)


def throws(n):
    yield from rows(n, 1, 16, {3: 1 | 9 << 16}, {2: lambda r: [i + 1 for i in r]}, b"E" + NUMBER)
    number = lambda r: [i + 1 for i in r]
    yield from rows(n, 2, 56, {5: 1 | 2 << 16, 8: ~5, 9: ~0, 10: ~5, 11: ~0}, {2: number, 3: number, 4: number, 6: number})


def collections(n):
    yield from rows(n, 5, 464, {2: 10**9, 7: 100, 8: 1 | 2 << 16, 9: 15 << 16 | 3 << 24, 12: ~5, 13: ~0, 14: ~5, 15: ~0},
                    {6: lambda r: [i + 1 for i in r]})


def instrumented(n):
    """Methods with a rule each, and counts near 2^64 of two threads."""
    text_of = b"app" + b"M" + NUMBER
    yield from rows(n, 1, 24, {4: 1 | 3 << 16, 5: 9}, {2: lambda r: r}, text_of)
    yield from rows(n, 6, 28, {5: 1 | 9 << 16, 6: 5}, {2: lambda r: r}, b"R" + NUMBER + b"a.xml")
    for _ in range(2):
        yield from rows(n // 256, 3, 16 + 40 * 256, {4 + k: 0xffffffff for k in range(10)}, {2: lambda r: [256 * i for i in r]})


def traced(n):
    text_of = b"r" + NUMBER
    yield from rows(n, 2, 40, {8: 9}, {2: lambda r: [i + 1 for i in r], 4: lambda r: [i + 2 for i in r],
                                       6: lambda r: [i % 256 for i in r], 7: lambda r: [100 + i for i in r]}, text_of)


def traced_session(folder, n):
    write_processes(folder, 1, 1, [("instrument", lambda path: instrument_file(path, instrumented(256))),
                                   ("traced", lambda path: traced_file(path, traced(n)))])


def heap(path, kind, n):
    types_of, roots = [b"T%d" % i for i in range(n if kind == "types" else 2)], [0x10000000 // 8]
    references = {"list": lambda i: [i + 1] if i + 1 < n else [], "cycle": lambda i: [i, (i + 1) % n],
                  "types": lambda i: [], "fan": lambda i: range(1, n) if i == 0 else [0]}[kind]
    objects = heap_objects(n, references)
    if kind == "types":
        objects = ((step, 1 + i, refs) for i, (step, _, refs) in enumerate(objects))
    heap_file(path, types_of, objects, roots)


def segments(folder, n):
    """Segments of continuous mode, each with a process of its own."""
    first = f"{folder}/20261124T101500Z-1"
    write_processes(first, 1, 1)
    for i in range(2, n + 1):
        at = f"{folder}/20261124T101500Z-{i}"
        os.makedirs(f"{at}/1")
        os.link(f"{first}/1/census", f"{at}/1/census")


def sampled_processes(folder, n):
    write_processes(folder, n, 1, [("samples", lambda path: samples_file(path, methods(3)))])


M = 10**6 if os.environ.get("EXTREMES") == "all" else 200000
KINDS = {
    "plain": lambda f: write_processes(f, 300, 1),
    "processes": lambda f: write_processes(f, 65000, 1),
    "full-processes": lambda f: write_processes(f, 5000, 64),
    "sampled-processes": lambda f: sampled_processes(f, 5000),
    "segments": lambda f: segments(f, 17000),
    "threads": one("samples", lambda p: samples_file(p, threads(M))),
    "methods": one("samples", lambda p: samples_file(p, methods(10**6))),
    "long-names": one("samples", lambda p: samples_file(p, methods(1000, LONG))),
    "modules": one("samples", lambda p: samples_file(p, modules(100000))),
    "runtimes": one("samples", lambda p: samples_file(p, runtimes(100000))),
    "tree": one("samples", lambda p: samples_file(p, tree(10000))),
    "tiny": one("samples", lambda p: samples_file(p, tiny(16384))),
    "weights": one("samples", lambda p: samples_file(p, weights(300000))),
    "types": one("samples", lambda p: samples_file(p, types(M), True)),
    "big-costs": one("samples", lambda p: samples_file(p, big_costs(8), True)),
    "spans": one("events", lambda p: events_file(p, spans(M))),
    "throws": one("events", lambda p: events_file(p, throws(M))),
    "collections": one("events", lambda p: events_file(p, collections(M // 8))),
    "instrumented": one("instrument", lambda p: instrument_file(p, instrumented(M // 2))),
    "traced": lambda f: traced_session(f, M),
    "calls-cycles": one("calls", calls_cycles),
    "calls-threads": one("calls", lambda p: calls_wide(p, 200000, 100000)),
    "calls-counts": one("calls", lambda p: calls_wide(p, 4, 2, HUGE - 5, HUGE - 5)),
    "heap-list": one("heap-1", lambda p: heap(p, "list", M)),
    "heap-cycle": one("heap-1", lambda p: heap(p, "cycle", M)),
    "heap-types": one("heap-1", lambda p: heap(p, "types", M)),
    "heap-fan": one("heap-1", lambda p: heap(p, "fan", M)),
}
if __name__ == "__main__":
    KINDS[sys.argv[1]](sys.argv[2])
