#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""prepared.py - checks that instrumented runtimes compiled and ran the same as runtimes without new IL. TAP.

usage: prepared.py SESSION.json PLAIN-PREFIX INSTRUMENTED-PREFIX LEAST VERSION...
The prefixes are those of the files that the app `prepare` wrote. LEAST: the number of methods with new
IL that each runtime must have compiled.
"""
import collections
import json
import sys

# Reasons of expected failures: the library refuses the method, or the method has no IL despite its flags.
REFUSED = ("compiled code relies on it as it is", "the runtime gives no body of it")


def load(path):
    """Returns outcomes by (assembly, token), names by (assembly, token), and results of uses."""
    outcomes, names, uses = {}, {}, []
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            word = line.rstrip("\n").split(" ", 3)
            if word[0] == "uses":
                uses.append(line)
            else:
                key = word[0], int(word[1], 16)
                outcomes[key], names[key] = word[2], word[3]
    return outcomes, names, uses


def say(fine, claim, odd=()):
    print("ok - " + claim if fine else "not ok - " + claim)
    for line in list(odd)[:20] if not fine else []:
        print("# " + line.rstrip())


def check(version, methods, plain, instrumented, least):
    before, names, uses_before = load(plain)
    after, _, uses_after = load(instrumented)
    differ = [f"{names.get(k)}: {before.get(k)}, now {after.get(k)}"
              for k in before.keys() | after.keys() if before.get(k) != after.get(k)]
    compiled = [k for k in after if after[k] == "ok" and k in methods and methods[k]["compiled"]]
    refused = collections.Counter()
    missing = []
    for k in after:
        method = methods.get(k, {"state": "no method", "compiled": False})
        reason = method.get("reason", "")
        if method["compiled"] or after[k] != "ok":
            continue
        if method["state"] == "failed" and reason.startswith(REFUSED):
            refused[reason] += 1
        else:
            missing.append(f"{names[k]}: {method['state']} {reason}")
    failed = [f"{s['name']}: {s['reason']}" for s in methods.values()
              if s["state"] == "failed" and not s["reason"].startswith(REFUSED)]
    why = "".join(f", {n} refused ({text})" for text, n in sorted(refused.items()))
    say(len(compiled) >= least,
        f"{version}: {len(after)} methods requested, {len(compiled)} compiled with new IL{why}",
        [f"at least {least} expected"])
    say(not missing and not failed, f"{version}: every method that can get new IL has it", missing + failed)
    say(before and not differ, f"{version}: each method has the same outcome as without new IL", differ)
    say(uses_before and uses_before == uses_after,
        f"{version}: {len(uses_after)} uses of the libraries have the same results as without new IL",
        [line for pair in zip(uses_before, uses_after) if pair[0] != pair[1] for line in pair])


def main():
    session, plain, instrumented, least = sys.argv[1:5]
    methods = collections.defaultdict(dict)
    with open(session, encoding="utf-8") as text:
        for method in json.load(text)["instrument"]:
            methods[method["version"]][method["assembly"], method["token"]] = method
    for version in sys.argv[5:]:
        check(version, methods[version], f"{plain}.{version}", f"{instrumented}.{version}", int(least))


main()
