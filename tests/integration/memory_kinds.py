# SPDX-License-Identifier: MIT
"""memory_kinds.py - prints the memory that a .NET process alone has written (Private_Dirty), in KiB, by what it is for.

usage: memory_kinds.py PID...     a table with a column for each process
       memory_kinds.py --sum PID  one number: all but the managed heaps, which come and go with the program's work

Kinds: malloc (the C library's main heap and its arenas), GC heap, code (JIT code and the runtime's loader heaps), stacks,
files (libraries), library (libsxsprof.so with its zeroed data), other.
"""
import re
import sys

ARENA = 64 << 20  # glibc reserves so much for each heap of an arena, and aligns it
RESERVED = 4 << 30  # a reservation of this size is that of a GC heap
KINDS = ("malloc", "GC heap", "code", "stacks", "files", "library", "other")


def mappings(pid):
    """Returns the mappings of a process, ascending, as dictionaries."""
    found = []
    with open(f"/proc/{pid}/smaps") as smaps:
        for line in smaps:
            head = re.match(r"([0-9a-f]+)-([0-9a-f]+) (\S+) \S+ \S+ (\d+)\s*(.*)", line)
            if head:
                found.append({"lo": int(head[1], 16), "hi": int(head[2], 16), "rights": head[3],
                              "name": head[5], "anonymous": head[4] == "0" and not head[5], "dirty": 0})
            elif line.startswith("Private_Dirty:"):
                found[-1]["dirty"] = int(line.split()[1])
    return found


def kind_of_named(m):
    """Returns the kind of a mapping that has a name."""
    for pattern, kind in ((r"^\[heap\]", "malloc"), (r"^\[stack", "stacks"), (r"doublemapper", "code"),
                          (r"libsxsprof", "library"), (r"^/", "files")):
        if re.search(pattern, m["name"]):
            return kind
    return "other"


def runs(found):
    """Yields lists of anonymous mappings that adjoin each other, and lists of one named mapping."""
    at = 0
    while at < len(found):
        end = at + 1
        while found[at]["anonymous"] and end < len(found) and found[end]["anonymous"] and \
                found[end]["lo"] == found[end - 1]["hi"]:
            end += 1
        yield found[at:end]
        at = end


def kinds(pid):
    """Returns the KiB of each kind."""
    out = dict.fromkeys(KINDS, 0)
    library_ends = None
    for run in runs(mappings(pid)):
        if not run[0]["anonymous"]:
            kind = kind_of_named(run[0])
            out[kind] += run[0]["dirty"]
            library_ends = run[0]["hi"] if kind == "library" else None
            continue
        is_gc = run[-1]["hi"] - run[0]["lo"] >= RESERVED
        for i, m in enumerate(run):
            after = run[i + 1] if i + 1 < len(run) else None
            before = run[i - 1] if i else None
            if m["lo"] == library_ends:
                kind = "library"  # its zeroed data
            elif m["lo"] % ARENA == 0 and (not after or not after["rights"].startswith("rw")) and \
                    m["rights"].startswith("rw") and after and after["hi"] == m["lo"] + ARENA:
                kind = "malloc"
            elif is_gc:
                kind = "GC heap"
            elif before and before["rights"].startswith("---") and before["hi"] - before["lo"] <= 65536:
                kind = "stacks"  # behind a guard page
            elif "x" in m["rights"]:
                kind = "code"
            else:
                kind = "other"
            out[kind] += m["dirty"]
        library_ends = None
    return out


def main():
    """Prints what the command line asks for."""
    if sys.argv[1] == "--sum":
        of = kinds(sys.argv[2])
        print(sum(of.values()) - of["GC heap"])
        return
    columns = [kinds(pid) for pid in sys.argv[1:]]
    for kind in KINDS:
        print(f"{kind:10}" + "".join(f"{c[kind]:9}" for c in columns))
    print(f"{'all':10}" + "".join(f"{sum(c.values()):9}" for c in columns))


main()
