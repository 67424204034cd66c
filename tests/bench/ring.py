#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""ring.py SESSION RING N [SECONDS] - makes a ring of N segments (docs/internals/keep.md) out of one session.

Every segment has the files of SESSION, as hard links: a ring of 10,000 segments takes the space of one. Only names and
segment.json differ. SECONDS is the length of a segment (60). SESSION is a session of one process, or a segment.
"""
import json
import os
import sys
import time

BEGIN = 1795521600  # 2026-11-24T12:00:00Z
NS = 10**9


def main(session, ring, n, seconds=60):
    folders = [e for e in os.listdir(session) if e.isdigit()]
    if len(folders) != 1:
        sys.exit(f"{session}: {len(folders)} processes; expected one")
    pid = folders[0]
    os.makedirs(ring)
    for i in range(n):
        at = BEGIN + i * seconds
        segment = os.path.join(ring, time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(at)) + f"-{i + 1}")
        os.makedirs(os.path.join(segment, pid))
        for name in os.listdir(os.path.join(session, pid)):
            os.link(os.path.join(session, pid, name), os.path.join(segment, pid, name))
        with open(os.path.join(segment, "segment.json"), "w", encoding="utf-8") as f:
            json.dump({"sxsprof_segment": 1, "number": i + 1, "pid": int(pid), "process_started": 4711,
                       "started_ns": at * NS, "ended_ns": (at + seconds) * NS - NS // 100,
                       "gap_ns": NS // 100 if i else 0, "tools": "sample", "every_ns": seconds * NS,
                       "cpu_ns": NS, "own_cpu_ns": NS // 1000, "adapted": ""}, f)


if __name__ == "__main__":
    if len(sys.argv) not in (4, 5):
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2], *map(int, sys.argv[3:]))
