#!/bin/sh
# SPDX-License-Identifier: MIT
# words.sh - checks names, messages and documents for words that have a usual term in the field.
# tests/lint/words.txt lists the words, the terms, and the files where a word has its usual meaning.
#
# Looks at file names and identifiers; at the strings of the product's C and JavaScript, which users read; and at
# documents without `code` and "quotations". Does not look at comments: there the words are ordinary English. Status 1
# when a word is found.
cd "$(dirname "$0")/../.." || exit 1
exec python3 - <<'P'
import fnmatch
import os
import re
import sys

ROOTS = [line.split("\t")[0].split("/")[0] for line in open("folders.tsv") if not line.startswith("#")]
ROOTS = sorted(set(ROOTS)) + ["docs", "harness", "include", "setup", "tests", "Makefile", "README.md"]
PRODUCT = sorted({line.split("\t")[0] for line in open("folders.tsv") if not line.startswith("#")})
C_STRING = r'"(?:\\.|[^"\\\n])*"|(?<!\w)\'(?:\\.|[^\'\\\n])*\'|`[^`\n]*`'
SKIPPED = {  # by the ending of a file: comments, and strings
    (".c", ".h", ".inc", ".S", ".js", ".mjs", ".def", ".css"): re.compile(r"/\*(?s:.*?)\*/|//[^\n]*|" + C_STRING),
    (".py",): re.compile(r'(?s:""".*?""")|#[^\n]*|' + C_STRING),
    (".sh", "Makefile"): re.compile(r'(?:(?<=\s)|^)#[^\n]*|"(?:\\.|[^"\\\n])*"|(?<!\w)\'[^\'\n]*\'', re.M),
    (".md", ".1", ".5", ".7"): re.compile(r'(?s:^```.*?^```)|`[^`\n]*`|"[^"\n]*"', re.M),
    (".tsv",): re.compile(r"^#[^\n]*", re.M),
    (".html",): re.compile(r"<!--(?s:.*?)-->"),
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


def has_texts(path):
    """Whether users read the strings of a file."""
    return path.endswith((".c", ".h", ".js")) and (os.path.dirname(path) in PRODUCT or path.startswith("cmd/page/"))


def kept(path, part):
    """What is left of a comment or string: paths, as of #include; strings that users read; the line feeds."""
    if re.fullmatch(r'"[\w./-]+/[\w./-]+"', part):
        return part
    if part[0] in "\"'`" and not part.startswith('"""') and has_texts(path):
        return part
    return '""' + "\n" * part.count("\n")


def text_of(path):
    for ends, skipped in SKIPPED.items():
        if path.endswith(ends):
            try:
                text = open(path, encoding="utf-8").read()
            except (OSError, UnicodeDecodeError):
                return ""
            return skipped.sub(lambda m: kept(path, m.group(0)), text)
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
