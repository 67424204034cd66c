#!/bin/sh
# SPDX-License-Identifier: MIT
# words.sh - checks names, comments and documents for words that have a usual term in the field.
# tests/lint/words.txt lists the words, the terms, and the files where a word has its usual meaning.
#
# Looks at file names, at C, JavaScript, CSS, Python, shell and assembler without their strings, and
# at documents without `code` and "quotations". Status 1 when a word is found.
cd "$(dirname "$0")/../.." || exit 1
exec python3 - <<'P'
import fnmatch
import os
import re
import sys

ROOTS = [line.split("\t")[0].split("/")[0] for line in open("folders.tsv") if not line.startswith("#")]
ROOTS = sorted(set(ROOTS)) + ["docs", "harness", "include", "setup", "tests", "Makefile", "README.md"]
STRINGS = {
    (".c", ".h", ".inc", ".S", ".js", ".mjs", ".py", ".def"):
        re.compile(r'"""|"(?:\\.|[^"\\\n])*"|(?<!\w)\'(?:\\.|[^\'\\\n])*\'|`[^`\n]*`'),
    (".sh",): re.compile(r'"(?:\\.|[^"\\\n])*"|(?<!\w)\'[^\'\n]*\''),
    (".md", ".1", ".5", ".7"): re.compile(r'(?s:^```.*?^```)|`[^`\n]*`|"[^"\n]*"', re.M),
    (".css", ".html", ".tsv"): re.compile(r"(?!)"),
    ("Makefile",): re.compile(r"(?!)"),
}


def read_words():
    words = []
    for number, line in enumerate(open("tests/lint/words.txt"), 1):
        if line.startswith("#") or not line.strip():
            continue
        fields = line.rstrip("\n").split("\t")
        if len(fields) not in (2, 3):
            sys.exit("tests/lint/words.txt:%d: expected WORD, TERM and FILES, separated by tabs" % number)
        pattern = re.compile(r"(?<![A-Za-z])(?:%s)(?![a-z])" % fields[0], re.I)
        words.append((pattern, fields[1], fields[2].split() if len(fields) == 3 else []))
    return words


def files():
    for root in ROOTS:
        if os.path.isfile(root):
            yield root
        for folder, folders, names in os.walk(root):
            folders[:] = sorted(f for f in folders if f not in ("managed", "node_modules") and "corpus" not in f)
            for name in sorted(names):
                yield os.path.join(folder, name)


def blank(string):
    """The replacement of a string: paths, as of #include, are kept, and so are the numbers of lines."""
    return string if re.fullmatch(r'"[\w./-]+/[\w./-]+"', string) else '""' + "\n" * string.count("\n")


def text_of(path):
    for ends, strings in STRINGS.items():
        if path.endswith(ends):
            try:
                text = open(path, encoding="utf-8").read()
            except (OSError, UnicodeDecodeError):
                return ""
            return strings.sub(lambda m: blank(m.group(0)), text)
    return ""


words, found = read_words(), 0
for path in files():
    if path.startswith("tests/lint/words."):
        continue
    text = text_of(path)
    for pattern, term, allowed in words:
        hits = [(0, m.group(0)) for m in pattern.finditer(path)]
        hits += [(text.count("\n", 0, m.start()) + 1, m.group(0)) for m in pattern.finditer(text)]
        if any(fnmatch.fnmatch(path, glob) for glob in allowed):
            continue
        for line, word in hits:
            print("%s%s: %s: %s" % (path, ":%d" % line if line else "", word, term))
            found += 1
sys.exit(1 if found else 0)
P
