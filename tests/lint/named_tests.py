#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""named_tests.py - checks that the tests that docs/internals/clrie.md names in its tables exist, and the files and
names of the code in CONTRIBUTING.md.

A test's name is a word of three or more parts joined by "_", in the last column of a row. It must be a test
case of tests/unit/test_clrie_*.c, or a test program or script of tests/unit or tests/clrie.

In CONTRIBUTING.md, a path between backquotes must exist; NAME stands for anything. A name that follows a path in
parentheses must occur in that file, any other name of the code (sxs_..., SXS_...) somewhere in the sources.
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


GUIDE = "CONTRIBUTING.md"
FOLDERS = "base callback clrie cmd control docs elt guests harness include instr manager packaging runtime_facts " \
          "sampling session setup signals stackwalk symbols tests tools values".split()


def is_path(text):
    return re.fullmatch(r"[\w./-]+", text) is not None and ("/" in text and text.split("/")[0] in FOLDERS or
                                                             text in ("folders.tsv", "Makefile", "CHANGELOG.md", ".ci/run"))


def sources():
    """Returns the text of all C sources, headers and scripts of the pages."""
    text = []
    for folder in FOLDERS:
        for end in ("c", "h", "js"):
            for path in glob.glob("%s/**/*.%s" % (folder, end), recursive=True):
                with open(path, encoding="utf-8") as f:
                    text.append(f.read())
    return "\n".join(text)


def check_guide():
    """Prints what CONTRIBUTING.md names that does not exist. Returns how many names were found, and how many are wrong."""
    found, bad, everything = 0, 0, sources()

    def wrong(number, what):
        print("%s:%d: there is no %s" % (GUIDE, number, what))
        return 1

    with open(GUIDE, encoding="utf-8") as f:
        lines = f.read().split("\n")
    for number, line in enumerate(lines, 1):
        following = " ".join(lines[number - 1:number + 1]) if not line.startswith("|") else line
        for text in re.findall(r"`([^`]+)`", line):
            if is_path(text):
                found += 1
                pattern = text.replace("NAME", "*")
                if not glob.glob(pattern) and "NAME" not in text or "NAME" in text and not glob.glob(os.path.dirname(pattern)):
                    bad += wrong(number, text)
            for name in re.findall(r"\b(?:sxs|SXS)_\w+", text):
                found += 1
                if "NAME" not in name and not re.search(r"\b%s\b" % name, everything):
                    bad += wrong(number, name)
        for path, names in re.findall(r"`([^`]+)` \(((?:and |if it has options|[`\w, ])*)\)", following):
            if not is_path(path) or not os.path.isfile(path):
                continue
            with open(path, encoding="utf-8") as f:
                text = f.read()
            for name in re.findall(r"`(\w+)`", names):
                found += 1
                if not re.search(r"\b%s\b" % name, text):
                    bad += wrong(number, "%s in %s" % (name, path))
    return found, bad


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
    found, wrong = check_guide()
    if found < 80:
        print("%s: only %d files and names were found" % (GUIDE, found))
        bad += 1
    bad += wrong
    sys.exit(bad != 0)


main()
