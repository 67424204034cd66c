#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""named_tests.py - checks that the tests that docs/internals/clrie.md names in its tables exist.

A name is a word of three or more parts joined by "_", in the last column of a row. It must be a test
case of tests/unit/test_clrie_*.c, or a test program or script of tests/unit or tests/clrie.
"""
import glob
import os
import re
import sys

PAGE = "docs/internals/clrie.md"


def known():
    names = set()
    for path in glob.glob("tests/unit/test_*.c"):
        names.add(os.path.basename(path)[:-2])
        if "clrie" in path:
            with open(path, encoding="utf-8") as f:
                names |= set(re.findall(r"^static void (\w+)\(", f.read(), re.M))
    return names


def main():
    names, found, bad = known(), 0, 0
    with open(PAGE, encoding="utf-8") as f:
        for number, line in enumerate(f, 1):
            if not line.startswith("|"):
                continue
            last = line.rstrip().rstrip("|").rsplit("|", 1)[-1]
            for word in re.findall(r"\b[a-z][a-z0-9]*(?:_[a-z0-9]+){2,}\b", last):
                found += 1
                if word not in names and not word.startswith(("sxs_", "clrie_")):
                    print("%s:%d: there is no test %s" % (PAGE, number, word))
                    bad += 1
            for path in re.findall(r"\btests/clrie/\w+\.sh\b", last):
                found += 1
                if not os.path.exists(path):
                    print("%s:%d: there is no %s" % (PAGE, number, path))
                    bad += 1
    if found < 50:
        print("%s: only %d tests were found" % (PAGE, found))
        bad += 1
    sys.exit(bad != 0)


main()
