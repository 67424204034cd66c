# SPDX-License-Identifier: MIT
"""prints.py - checks that the command prints text by cmd/output/print.h only, which cleans what comes from
elsewhere. Prints each other call that writes text, with the function to call instead; status 1 if there are any.

Refused in cmd/: printf(), fprintf(), vfprintf(), dprintf(), fwrite(), perror(), argp_error() and their like, and
write() to descriptors 1 and 2; and puts(), fputs(), putchar() and putc() of anything but constants. Files that write a
format with escapes of its own are in tests/lint/prints.txt, each with a reason; even they may not print so on
standard error. Refused, too, also in the pages: units of bytes in texts, because sxs_text_bytes() of cmd/output/text.h and
bytesText() of cmd/page/numbers.js print all numbers of bytes. usage: prints.py [FILE...]    (default: all sources of the command)"""
import os
import re
import sys

INSTEAD = {
    'printf': 'sxs_print()', 'vprintf': 'sxs_vprint_to()', 'fprintf': 'sxs_print_to()', 'vfprintf': 'sxs_vprint_to()',
    'argp_error': 'sxs_option_error()', 'argp_failure': 'sxs_option_error()',
    'puts': 'sxs_print("%s\\n", ...)', 'fputs': 'sxs_print_to(to, "%s", ...)',
    'putchar': 'sxs_print("%c", ...)', 'putc': 'sxs_print_to(to, "%c", ...)',
}
ALIASES = {'fputc': 'putc', 'puts_unlocked': 'puts', 'fputs_unlocked': 'fputs', 'putchar_unlocked': 'putchar',
           'putc_unlocked': 'putc', 'fputc_unlocked': 'putc', '__printf_chk': 'printf', '__fprintf_chk': 'fprintf'}
CONSTANTS = {'puts': 0, 'fputs': 0, 'putchar': 0, 'putc': 0}  # position of the text, which may be a constant
OTHERS = ('dprintf vdprintf fwrite fwrite_unlocked perror psignal psiginfo error error_at_line warn warnx vwarn vwarnx '
          'err errx verr verrx syslog vsyslog wprintf fwprintf vwprintf vfwprintf fputws fputwc putwc putwchar writev').split()
CALL = re.compile(r'(?<![\w.>])(%s)\s*\(' % '|'.join(
    sorted(list(INSTEAD) + list(ALIASES) + OTHERS + ['write'], key=len, reverse=True)))
TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'', re.S)
# "%.1f MB", "MB" as a text of its own, and `${n} MB`; a limit in prose ("at most 2048 MiB") is none.
UNIT = re.compile(r'%[-+#0-9.*hlzjt]*[dufg] ?[kKMGTPE]i?B\b|["\'][kKMGTPE]i?B["\']|\} ?[kKMGTPE]i?B\b')
UNITS = ('cmd/output/text.c', 'cmd/page/numbers.js')  # the two files that have the units
CONSTANT = re.compile(r'(?:"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|\b[A-Z][A-Z0-9_]+\b|\s)+')


def blank(match):
    """Comments, and the insides of constants, without what could be taken for code."""
    text = match.group()
    if text[0] == '/':
        return re.sub(r'[^\n]', ' ', text)
    return text[0] + re.sub(r'[^\n]', '_', text[1:-1]) + text[-1]


def arguments(text, at):
    """The arguments of the call whose parenthesis opens before `at`, in a text of blanked constants: their bounds."""
    found, depth, begin = [], 0, at
    for i in range(at, len(text)):
        c = text[i]
        if c in '([{':
            depth += 1
        elif c in ')]}':
            if depth == 0:
                return found + [(begin, i)]
            depth -= 1
        elif c == ',' and depth == 0:
            found.append((begin, i))
            begin = i + 1
    return found


def is_constant(text):
    """True for constants, and for a choice between constants."""
    choice = re.fullmatch(r'[^?"\']*\?(.*)', text, re.S)
    if choice:
        parts = choice.group(1).split(' : ')
        return len(parts) > 1 and all(is_constant(part) for part in parts)
    return bool(CONSTANT.fullmatch(text))


def problem(name, text, args, listed):
    """What is wrong with a call, or None."""
    name = ALIASES.get(name, name)
    values = [text[a:b].strip() for a, b in args]
    if name == 'write':
        wrong = values and values[0] in ('STDOUT_FILENO', 'STDERR_FILENO', '1', '2') and not listed
        return 'write() to a terminal: call sxs_print() or sxs_print_to()' if wrong else None
    if name in CONSTANTS and values and is_constant(values[CONSTANTS[name]]):
        return None
    if listed and 'stderr' not in values and not name.startswith('argp_') and name != 'perror':
        return None
    return '%s() does not clean what it prints: call %s of cmd/output/print.h' % (
        name, INSTEAD.get(name, 'sxs_print_to()'))


def check(path, listed):
    with open(path, encoding='utf-8') as source:
        whole = source.read()
    text = TOKEN.sub(blank, whole)
    found, calls = [], 0
    for call in CALL.finditer(text):
        line_start = text.rfind('\n', 0, call.start()) + 1
        args = arguments(text, call.end())
        before = text[line_start:call.start()]
        if re.fullmatch(r'(?:\w+[ *]+)+', before):
            continue  # a declaration of a function with this name
        if before.rstrip().endswith('__attribute__((format('):
            continue
        calls += 1
        what = problem(call.group(1), text, args, listed)
        if what:
            found.append('%s:%d: %s' % (path, text.count('\n', 0, call.start()) + 1, what))
    if listed and not calls:
        found.append('%s: prints nothing: remove it from tests/lint/prints.txt' % path)
    return found


def check_units(path):
    if path in UNITS:
        return []
    with open(path, encoding='utf-8') as source:
        return ['%s:%d: a unit of bytes: call sxs_text_bytes() or bytesText()' % (path, number)
                for number, line in enumerate(source, 1) if UNIT.search(line)]


def main():
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), '../..'))
    listed = {}
    with open('tests/lint/prints.txt', encoding='utf-8') as table:
        for line in table:
            if line.strip() and not line.startswith('#'):
                path, reason = line.rstrip('\n').split('\t', 1)
                listed[path] = reason
    paths = sys.argv[1:] or sorted(
        os.path.join(folder, name) for folder, _, names in os.walk('cmd') for name in names
        if name.endswith(('.c', '.h', '.inc', '.js')))
    found = ['%s: listed in tests/lint/prints.txt, but there is no such file' % p for p in listed
             if not os.path.exists(p)]
    for path in paths:
        found += check_units(path)
        if path != 'cmd/output/print.c' and not path.endswith('.js'):
            found += check(path, path in listed)
    if found:
        print('\n'.join(found))
        print('If a file writes a format that programs read, with escapes of its own: add it, and the reason, to '
              'tests/lint/prints.txt.')
    return 1 if found else 0


if __name__ == '__main__':
    sys.exit(main())
