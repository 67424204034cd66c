# SPDX-License-Identifier: MIT
"""runtime_facts.py - checks that what depends on a runtime's version is in the table of runtime_facts/ alone. Prints
each place of the library and the command that decides by a version; status 1 if there are any.

Refused outside of runtime_facts/:
 - atoi(), strtoul(), sscanf() and their like on a version, or on a variable that was set from one: call
   sxs_release_parse() or sxs_facts_of()
 - comparisons of a major number, of sxs_runtime_version() or of a version of ICorProfilerInfo with a number or a
   constant, and switch statements on them: add a column to the table, or call sxs_runtime_has()
 - comparisons of a version's text with a constant such as "4."
Versions of other things are in tests/lint/runtime_facts.txt, a path and the reason in each line. A path there that has
nothing to refuse is an error, too. usage: runtime_facts.py [FILE...]    (default: all sources)"""
import os
import re
import subprocess
import sys

PARSE = re.compile(r'\b(?:ato[il]l?|strto(?:u?ll?|[iu]max)|s?scanf|sscanf)\s*\(')
VERSION = re.compile(r'version', re.I)
# What stands for a version: a major number, the text of a runtime, its version of ICorProfilerInfo.
IS_NUMBER = r'(?:[\w.>-]*\bmajor\b|\bsxs_runtime_version\s*\([^()]*\)|[\w.>-]*\binfo_version\b(?:\s*\([^()]*\))?|' \
            r'\bsxs_runtime_info_version\s*\([^()]*\)|\bfacts\b[\w().>-]*->info\b)'
CONSTANT = r"(?:\d\w*|[A-Z][A-Z0-9_]+\b|'\d')"
COMPARED = re.compile(r'%s\s*(?:[<>]=?|[=!]=)\s*%s|%s\s*(?:[<>]=?|[=!]=)\s*%s(?!\w)' % (
    IS_NUMBER, CONSTANT, CONSTANT, IS_NUMBER))
SWITCH = re.compile(r'\bswitch\s*\([^{;]*(?:\bmajor\b|info_version|sxs_runtime_version)')
TEXT = re.compile(r'\bstrn?(?:case)?cmp\s*\([^;]*?version[^;]*?,\s*"\d+\.[^"]*"')
DIGIT = re.compile(r"version\s*\[\s*\d+\s*\]\s*(?:[<>]=?|[=!]=)\s*'\d'")
TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\])*"', re.S)


def without_comments(text, keep_strings):
    def blank(match):
        if match.group()[0] == '"':
            return match.group() if keep_strings else '"' + re.sub(r'[^\n]', '_', match.group()[1:-1]) + '"'
        return re.sub(r'[^\n]', ' ', match.group())
    return TOKEN.sub(blank, text)


def first_argument(text, at):
    depth = 0
    for i in range(at, len(text)):
        if text[i] in '([{':
            depth += 1
        elif text[i] in ')]}':
            if depth == 0:
                return text[at:i]
            depth -= 1
        elif text[i] == ',' and depth == 0:
            return text[at:i]
    return text[at:]


def function_around(text, at):
    """The text from the beginning of the function around `at`."""
    begin = text.rfind('\n{', 0, at)
    return text[max(begin, 0):at]


def is_version(text, at, argument):
    """True when the argument names a version, or a variable that the function has set from one."""
    if VERSION.search(argument):
        return True
    name = re.match(r'\s*\(?\s*(\w+)\s*\)?\s*$', argument)
    if not name:
        return False
    set_from = re.findall(r'\b%s\s*=(?!=)([^;,]*)' % name.group(1), function_around(text, at))
    return any(VERSION.search(value) for value in set_from)


def findings(path):
    raw = open(path).read()
    text, with_strings = without_comments(raw, False), without_comments(raw, True)
    for match in PARSE.finditer(text):
        if is_version(text, match.start(), first_argument(text, match.end())):
            yield match.start(), 'a version is parsed: call sxs_release_parse() or sxs_facts_of()'
    for match in COMPARED.finditer(text):
        yield match.start(), 'a version is compared: use a column of runtime_facts/facts.h, or sxs_runtime_has()'
    for match in SWITCH.finditer(text):
        yield match.start(), 'a choice by a version: use a column of runtime_facts/facts.h'
    for pattern in (TEXT, DIGIT):
        for match in pattern.finditer(with_strings):
            yield match.start(), 'the text of a version is compared: use a column of runtime_facts/facts.h'


def sources():
    folders = subprocess.run(['sh', 'tests/lint/folders.sh'], stdout=subprocess.PIPE, text=True, check=True).stdout
    for folder in sorted(set(folders.split())):
        if folder != 'runtime_facts':
            for name in sorted(os.listdir(folder)):
                if name.endswith(('.c', '.h', '.S')):
                    yield os.path.join(folder, name)


def main():
    listed = {}
    for line in open('tests/lint/runtime_facts.txt'):
        if not line.startswith('#') and line.strip():
            path, reason = line.rstrip('\n').split('\t')
            listed[path] = reason
    bad, used = 0, set()
    for path in sys.argv[1:] or sources():
        raw = open(path).read()
        for at, what in sorted(findings(path)):
            if path in listed:
                used.add(path)
                continue
            print('%s:%d: %s' % (path, raw.count('\n', 0, at) + 1, what))
            bad = 1
    for path in sorted(set(listed) - used if len(sys.argv) == 1 else []):
        print('tests/lint/runtime_facts.txt: %s has nothing to refuse' % path)
        bad = 1
    return bad


sys.exit(main())
