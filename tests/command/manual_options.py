#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""manual_options.py - compares the options of the manual pages with those of the command; prints TAP lines.

usage: manual_options.py COMPLETION

COMPLETION is the output of `sxsprof --completion zsh`, which is made from the tables of options: the rows of
cmd/settings.c, and those of tools/options/. Of each verb, the list of options on its page must have the same
options with the same arguments, and so must the SYNOPSIS of the verbs that record. What all recordings share
is on the page of record alone.
"""
import re
import sys

RECORDING = ["sample", "calls", "alloc", "native", "locks", "wait", "exceptions", "events", "gc", "instrument"]
OTHERS = ["attach", "start", "env"]  # their pages refer to the page of record, too
EVERYWHERE = {"help", "usage", "version"}


def verbs(path):
    """Returns {verb: {option: (letter, argument)}}; letter and argument are "" when there is none."""
    found, verb, last = {}, None, None
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            begin = re.match(r" {8}(\w+)\)$", line)
            option = re.match(r" {12}'\*(--?)([\w-]+)[=+]?\[(.*?)(?<!\\)\](?::(.*?)(?<!\\):.*)?' \\$", line)
            if begin:
                verb = found.setdefault(begin[1], {})
            elif option and option[1] == "--":
                last = option[2]
                verb[last] = ("", re.sub(r"\\(.)", r"\1", option[4] or ""))
            elif option:
                verb[last] = (option[2], verb[last][1])  # the line after the name of the same option
    return found


def plain(words):
    """Returns the text of an argument in mdoc, such as "Ar NAME Ns Op : Ns Ar OPTIONS": "NAME[:OPTIONS]"."""
    text, open_to_end, glue = "", False, True
    for word in words:
        if word in ("Ar", "Cm", "Pa", "Li", "No"):
            continue
        if word in ("Ns", "|"):
            text, glue = text + word.replace("Ns", ""), True
            continue
        if word in ("Op", "Oo"):
            text, glue, open_to_end = text + "[", True, open_to_end or word == "Op"
            continue
        if word == "Oc":
            text, glue = text + "]", False
            continue
        text, glue = text + ("" if glue else " ") + word, False
    return text + ("]" if open_to_end else "")


def options_of(line):
    """Returns [(option, letter, argument)] of an item or a part of a SYNOPSIS: "Fl p , Fl Fl process Ar PID" is one
    option, "Fl Fl from Ar TIME , Fl Fl to Ar TIME" are two."""
    found = []
    for part in re.split(r" [,|] (?=Fl )", line):
        words = part.split()
        if words in (["Fl"], ["Fl", "Fl"]):  # - and --, which are no options
            continue
        is_long = words[:2] == ["Fl", "Fl"]
        name, argument = (words[2], words[3:]) if is_long else (words[1], words[2:])
        if is_long and found and not found[-1][0] and found[-1][2] in ("", plain(argument)):
            found[-1] = (name, found[-1][1], plain(argument))  # the letter came first
        else:
            found.append((name, "", plain(argument)) if is_long else ("", name, plain(argument)))
    return found


def read_page(name):
    """Returns the options of the items of a page, and those of the first form of its SYNOPSIS. An option with several
    items has the arguments of all, separated by |."""
    listed, synopsis, heading, forms = {}, [], "", 0
    with open("docs/man/sxsprof-%s.1" % name, encoding="utf-8") as file:
        for line in file.read().split("\n"):
            if line.startswith(".Sh"):
                heading = line[4:]
            elif heading == "SYNOPSIS" and line.startswith(".Nm"):
                forms += 1
            elif heading == "SYNOPSIS" and forms == 1 and line.startswith(".Op Fl"):
                synopsis += options_of(line[4:])
            elif line.startswith(".It Fl"):
                for option, letter, argument in options_of(line[4:]):
                    before = listed.get(option)
                    listed[option] = (letter, before[1] + "|" + argument if before else argument)
    return listed, synopsis


def is_same(table, page):
    """Returns true when an option of the table is as on the page. A word in capitals may stand for a list of words."""
    if table[0] == page[0] and sorted(table[1].split("|")) == sorted(page[1].split("|")):
        return True
    is_list = re.fullmatch(r"[a-z-]+(\|[a-z-]+)+", table[1])
    return table[0] == page[0] and is_list is not None and re.fullmatch("[A-Z]+", page[1]) is not None


def claim(text, wrong):
    print("%s - %s" % ("not ok" if wrong else "ok", text))
    for line in wrong:
        print("#   " + line)
    return not wrong


def shown(name, option):
    return "--%s%s %s" % (name, ", -" + option[0] if option[0] else "", option[1])


def compare(name, table, pages):
    """Compares the options of the verb @name with those of its pages, the own one first."""
    wrong = []
    for option, row in table.items():
        found = [page[option] for page in pages if option in page]
        if not found:
            wrong.append("no page has " + shown(option, row))
        wrong += ["the page has %s, the command %s" % (shown(option, page), shown(option, row))
                  for page in found if not is_same(row, page)]
    wrong += ["the command has no " + shown(option, row) for option, row in pages[0].items() if option not in table]
    return claim("%s: the options on the page are those of the command" % name, wrong)


def main():
    options, good = verbs(sys.argv[1]), True
    for table in options.values():
        for name in EVERYWHERE:
            table.pop(name, None)
    shared = options["exceptions"]  # of all recordings: this tool has no options of its own
    record = read_page("record")[0]
    for verb in sorted(options):
        if verb in ("help", "trace", "run"):  # on the pages of calls and record
            continue
        listed, synopsis = read_page(verb)
        table = options[verb]
        if verb == "record":
            table = {option: row for option, row in table.items() if option in shared}
        good = compare(verb, table, [listed] + [record] * (verb in RECORDING + OTHERS)) and good
        if verb in RECORDING:
            on_page = [(option, row[0], row[1]) for option, row in listed.items()]
            good = claim("%s: the SYNOPSIS has the options that the page describes" % verb,
                         [] if synopsis == on_page else ["SYNOPSIS: %s" % synopsis, "described: %s" % on_page]) and good
            good = claim("%s: the page describes the options that other recordings do not have" % verb,
                         [shown(o, row) for o, row in table.items() if o not in shared and o not in listed]) and good
    for verb, page in (("trace", "calls"), ("run", "record")):
        known = {**record, **read_page(page)[0]}
        good = claim("%s: all options are on the pages of %s and record" % (verb, page),
                     [shown(o, row) for o, row in options[verb].items() if not is_same(row, known.get(o, ("", "?")))]) and good
    print("# %d verbs, %d options" % (len(options), sum(len(table) for table in options.values())))
    return 0 if good and len(options) > 30 else 1


sys.exit(main())
