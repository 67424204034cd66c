#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tags.py - checks that no two structures, unions or enumerations of the product and of harness/ have the same tag, not
even in source files that do not include each other: a search and a debugger would show the wrong one. Prints the
places; status 1 if there are any."""
import collections
import os
import re
import subprocess
import sys

os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
NO_CODE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.S)
DEFINITION = re.compile(r"\b(?:struct|union|enum)\s+(?:__attribute__\s*\(\(.*?\)\)\s*)?(\w+)\s*\{", re.S)

folders = subprocess.run(["sh", "tests/lint/folders.sh"], capture_output=True, text=True, check=True).stdout.split() + ["harness", "harness/bridge"]
places = collections.defaultdict(list)
for path in sorted(os.path.join(folder, name) for folder in folders for name in os.listdir(folder)
                   if name.endswith((".c", ".h", ".inc"))):
    with open(path, encoding="utf-8") as source:
        text = NO_CODE.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), source.read())
    for found in DEFINITION.finditer(text):
        places[found[1]].append("%s:%d" % (path, text.count("\n", 0, found.start()) + 1))

twice = {tag: at for tag, at in places.items() if len(at) > 1}
for tag, at in sorted(twice.items()):
    print("%s: %s is defined %d times: also in %s" % (at[-1], tag, len(at), ", ".join(at[:-1])))
sys.exit(1 if twice or not places else 0)
