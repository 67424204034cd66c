#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""circles.py - checks that no sources include each other in a circle. Prints the circles; status 1
if there are any.

NAME.c and NAME.h are one unit: unit A depends on unit B if a file of A includes a header of B.
Headers NAME_internal.h are private to the files of their folder and belong to no unit: they may
include public headers of the files that they serve."""
import collections
import os
import re
import subprocess
import sys

os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
folders = subprocess.run(["sh", "tests/lint/folders.sh"], capture_output=True, text=True,
                         check=True).stdout.split()
files = {os.path.join(folder, name) for folder in folders for name in os.listdir(folder)
         if name.endswith((".c", ".h"))}


def unit(path):
    return path[:-2]


edges = collections.defaultdict(set)
for path in files:
    if path.endswith("_internal.h"):
        continue
    with open(path, encoding="utf-8") as source:
        for header in re.findall(r'^\s*#\s*include\s*"([^"]+)"', source.read(), re.M):
            if (header in files and not header.endswith("_internal.h")
                    and unit(header) != unit(path)):
                edges[unit(path)].add(unit(header))


def reach(start):
    """The units that @start depends on, directly or not."""
    seen, left = set(), [start]
    while left:
        for to in edges[left.pop()] - seen:
            seen.add(to)
            left.append(to)
    return seen


reached = {at: reach(at) for at in list(edges)}
circles = {frozenset(to for to in reached[at] if at in reached.get(to, ())) for at in reached
           if at in reached[at]}
for circle in sorted(map(sorted, circles)):
    print("circle: " + ", ".join(circle))
sys.exit(1 if circles else 0)
