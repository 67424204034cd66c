# SPDX-License-Identifier: MIT
"""sigsafe_source.py - finds functions, marks and calls in the text of C sources.

It relies on the format of the sources: the braces of a definition are alone, in column one.
"""
import glob
import re
import subprocess

from sigsafe_rules import Function

NOT_CALLS = {"if", "while", "for", "switch", "return", "sizeof", "defined", "offsetof", "typeof",
             "__asm__", "volatile", "__attribute__", "_Static_assert", "_Alignof", "ARRAY_LEN", "container_of",
             "void", "ElfW"}
MACRO = re.compile(r"[A-Z][A-Z0-9_]*$")  # calls in macros are found by sigsafe_ast.py
CALL = re.compile(r"((?:\w+(?:\.|->))*[A-Za-z_]\w*)\s*\(")
BLANKED = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
BODY = re.compile(r"^\{.*?^\}", re.S | re.M)


def blank(match):
    return re.sub(r"[^\n]", " ", match[0])


def clean(text):
    text = BLANKED.sub(blank, text)
    text = re.sub(r"^[ \t]*#.*(?:\\\n.*)*", blank, text, flags=re.M)
    return re.sub(r"__attribute__\s*\(\(.*?\)\)", blank, text, flags=re.S)


def read_functions(path):
    with open(path, encoding="utf-8") as f:
        text = clean(f.read())
    for body in BODY.finditer(text):
        head = re.split(r"[;}]", text[:body.start()])[-1]
        if "=" in head or not (name := re.search(r"(\w+)\s*\(", head)):
            continue  # a table or a struct
        line = text.count("\n", 0, body.start())
        function = Function(path, name[1], line, "SXS_SIGSAFE" in head)
        for call in CALL.finditer(body[0]):
            if call[1] not in NOT_CALLS and not MACRO.match(call[1]):
                function.calls.append((call[1], line + 1 + body[0].count("\n", 0, call.start())))
        yield function


def marked_in_headers(paths):
    names = set()
    for path in paths:
        with open(path, encoding="utf-8") as f:
            text = clean(f.read())
        for mark in re.finditer(r"\bSXS_SIGSAFE\b([^;{]*?)(\w+)\s*\(", text):
            names.add(mark[2])
    return names


def sources(kind):
    folders = subprocess.run(["sh", "tests/lint/folders.sh", "library", "clrie", "preload"], check=True,
                             capture_output=True, text=True).stdout.split()
    return sorted(p for folder in folders for p in glob.glob(f"{folder}/*.{kind}"))


def read_all():
    functions = [f for path in sources("c") for f in read_functions(path)]
    return functions, marked_in_headers(sources("h"))
