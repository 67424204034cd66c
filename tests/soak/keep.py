# SPDX-License-Identifier: MIT
"""keep.py - for keep.sh: watches a ring of segments, and compares what it had with what was pushed.

usage: keep.py watch RING ALL RESULT                until SIGINT; ALL receives a hard link to each file of each segment
       keep.py compare REPORT FLAME TEXT RESULT KEEP EVERY
"""
import collections
import json
import os
import re
import signal
import shutil
import sys
import time

TICK = os.sysconf("SC_CLK_TCK")


def segments(ring):
    """Returns (name, path) of the segments of a ring, the kept ones, too."""
    for folder in (ring, os.path.join(ring, "kept")):
        if os.path.isdir(folder):
            for name in os.listdir(folder):
                if re.fullmatch(r"\d{8}T\d{6}Z-\d+", name):
                    yield name, os.path.join(folder, name)


def size_of(folder):
    """Returns the bytes on disk."""
    n = 0
    for path, _, files in os.walk(folder):
        for f in files:
            try:
                n += os.lstat(os.path.join(path, f)).st_blocks * 512
            except FileNotFoundError:
                pass
    return n


def link(path, to):
    """Gives each file of a segment a second name, which outlives the ring's. segment.json is replaced when the
    segment ends, so it is copied each time."""
    for folder, _, files in os.walk(path):
        there = os.path.join(to, os.path.relpath(folder, path))
        os.makedirs(there, exist_ok=True)
        for f in files:
            new = os.path.join(there, f)
            try:
                if f == "segment.json":
                    shutil.copyfile(os.path.join(folder, f), new)
                elif not os.path.exists(new):
                    os.link(os.path.join(folder, f), new)
            except FileNotFoundError:
                pass


def is_complete(folder):
    try:
        with open(os.path.join(folder, "segment.json"), encoding="utf-8") as f:
            return json.load(f)["ended_ns"] != 0
    except (OSError, ValueError, KeyError):
        return False


def process_facts(pid):
    """Returns (CPU seconds, resident KiB) of a process, or None."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as f:
            fields = f.read().rsplit(")", 1)[1].split()
        with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as f:
            rss = re.search(r"VmRSS:\s+(\d+)", f.read())
        return (int(fields[11]) + int(fields[12])) / TICK, int(rss[1]) if rss else 0
    except (OSError, IndexError):
        return None


def watch(ring, everything, result):
    ended = []
    signal.signal(signal.SIGINT, lambda *_: ended.append(1))
    disk, most_segments, done = 0, 0, set()
    cpu, memory = {}, collections.defaultdict(list)
    while True:
        last = bool(ended)
        now = list(segments(ring))
        most_segments = max(most_segments, len(now))
        for name, path in now:
            if name in done:
                continue
            complete = is_complete(path)
            link(path, os.path.join(everything, name))
            if complete:
                done.add(name)
            for pid in (f for f in os.listdir(os.path.join(everything, name)) if f.isdigit()):
                facts = process_facts(pid)
                if facts and facts[1]:  # else it is ending
                    cpu[pid] = facts[0]
                    memory[pid].append(facts[1])
        disk = max(disk, size_of(ring))
        if last:
            break
        time.sleep(0.5)
    with open(result, "w", encoding="ascii") as f:
        json.dump({"disk": disk, "segments": most_segments, "cpu": sum(cpu.values()),
                   "memory": {p: [m[len(m) // 3], m[-1], max(m)] for p, m in memory.items() if m}}, f)


def stacks(path):
    """Returns {stack: weight}; threads of one name are one, as ClickHouse has them."""
    every = collections.Counter()
    with open(path, encoding="utf-8") as f:
        for line in f:
            stack, weight = line.rstrip("\n").rsplit(" ", 1)
            first, _, rest = stack.partition(";")
            first = re.sub(r" \[\d+\]$", "", re.sub(r"^\d+/", "", first))
            every[f"{first};{rest}"] += int(weight)
    return every


def without_threads(every):
    """Returns {stack: weight} of all threads together."""
    joined = collections.Counter()
    for stack, weight in every.items():
        joined[stack.partition(";")[2]] += weight
    return joined


def in_bytes(keep):
    """Returns the bound of KEEP in bytes, or None."""
    found = re.search(r",(\d+)([KMG]?)", keep)
    return int(found[1]) << {"": 0, "K": 10, "M": 20, "G": 30}[found[2]] if found else None


def in_seconds(text):
    found = re.match(r"(\d+)([smh]?)", text)
    return int(found[1]) * {"": 1, "s": 1, "m": 60, "h": 3600}[found[2]]


def compare(report, flame, text, result, keep, every):
    recorded, pushed = stacks(report), stacks(flame)
    with open(result, encoding="ascii") as f:
        watched = json.load(f)
    with open(text, encoding="utf-8") as f:
        said = re.findall(r"^  (\d+) samples, (\d+) dropped", f.read(), re.M)
    bad = []
    a, b = sum(recorded.values()), sum(pushed.values())
    print(f"samples recorded: {sum(int(n) for n, _ in said)}, dropped: {sum(int(d) for _, d in said)}, "
          f"in {len(said)} processes")
    print(f"weight in the segments: {a}, in ClickHouse: {b}, stacks: {len(recorded)} and {len(pushed)}")
    if not a or without_threads(recorded) != without_threads(pushed):
        bad.append("the stacks differ")
    # A new thread has the name of the thread that made it for a moment: a push in that moment sends that name.
    renamed = sum((recorded - pushed).values())
    print(f"of it under the name that a thread had before: {renamed}")
    if renamed > a / 1000:
        bad.append("many threads have other names")
    for stack in list((recorded - pushed) + (pushed - recorded))[:5]:
        print(f"  {recorded[stack]} and {pushed[stack]}: {stack[:300]}")
    share = a / 1e9 / watched["cpu"] if watched["cpu"] else 0
    print(f"CPU time of the services: {watched['cpu']:.1f} s; the samples stand for {100 * share:.1f} % of it")
    if not 0.8 <= share <= 1.2:
        bad.append("the samples do not stand for the CPU time")
    limit, segment_s = in_bytes(keep), in_seconds(every)
    print(f"the ring at most: {watched['disk'] / 1048576:.1f} MiB in {watched['segments']} segments; bound: {keep}")
    if limit and watched["disk"] > limit:
        bad.append("the ring had more on disk than its bound")
    # One being recorded, one being deleted, and one for each of the six starts, which ends a segment early.
    if watched["segments"] > in_seconds(keep) / segment_s + 8:
        bad.append("the ring had more segments than its bound")
    for pid, (third, end, most) in watched["memory"].items():
        print(f"process {pid}: {third / 1024:.0f} MiB after a third of its time, {end / 1024:.0f} MiB at its end, "
              f"{most / 1024:.0f} MiB at most")
        if end > third + 128 * 1024:
            bad.append(f"the memory of process {pid} grew")
    for line in bad:
        print("WRONG:", line)
    return 1 if bad else 0


if sys.argv[1] == "watch":
    watch(*sys.argv[2:])
else:
    sys.exit(compare(*sys.argv[2:]))
