#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""random.py - checks that the checker of the library and the JIT of a runtime agree about random edits. TAP.

usage: random.py VERSION PLUGIN-OUTPUT ENGINE-LOG PLAIN-FILE EDITED-FILE LEAST
The files are those of the app `prepare`. LEAST: the number of methods that must be accepted, and refused.
"""
import collections
import sys


def outcomes(path):
    with open(path, encoding="utf-8") as lines:
        words = [line.rstrip("\n").split(" ", 3) for line in lines]
    return {(w[0], int(w[1], 16)): (w[2], w[3]) for w in words if w[0] != "uses"}


def read_plugin(path, version):
    """Returns the edits by method, the accepted methods, and the statuses of compilations by method."""
    edits, accepted, statuses = {}, set(), collections.defaultdict(set)
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            word = line.rstrip("\n").split(" ", 5)
            if word[1] != version or word[2] not in ("edited", "accepted", "compiled"):
                continue
            key = word[3].removesuffix(".dll"), int(word[4].rstrip(":"), 16)
            if word[2] == "edited":
                edits[key] = word[5] if len(word) > 5 else ""
            elif word[2] == "accepted":
                accepted.add(key)
            elif word[2] == "compiled":
                statuses[key].add(word[5])
    return edits, accepted, statuses


def say(fine, claim, odd=()):
    print(("ok - " if fine else "not ok - ") + claim)
    for line in list(odd)[:20] if not fine else []:
        print("# " + line)


def main():
    version, output, log, plain, edited, least = sys.argv[1:7]
    before, after = outcomes(plain), outcomes(edited)
    edits, accepted, statuses = read_plugin(output, version)
    with open(log, encoding="utf-8") as lines:
        named = {line.split("random: ", 1)[1].split(" stays without its changes: ")[0] for line in lines
                 if " stays without its changes: " in line}
    refused = {k for k in edits if k not in accepted}
    odd = [f"{after[k]}, before {before.get(k)}: {edits[k]}" for k in after
           if k in accepted and after[k] != before.get(k)]
    say(len(accepted) >= int(least) and not odd,
        f"{version}: the JIT compiles all {len(accepted)} methods with random edits that the checker accepts", odd)
    odd = [f"{after[k]}, before {before.get(k)}: {edits[k]}" for k in after
           if k in refused and after[k] != before.get(k)]
    say(len(refused) >= int(least) and not odd,
        f"{version}: all {len(refused)} methods whose edits the checker refuses are compiled as before", odd)
    odd = [f"{after[k][1]}: {edits[k]}" for k in refused if k in after and
           not any(n.split("<!!")[0].replace("+", ".").endswith(after[k][1].replace("+", ".").rsplit(".", 1)[1])
                   for n in named)]
    say(not odd, f"{version}: the log names them and the reason", odd)
    odd = [f"{k}: {sorted(statuses[k])}" for k in edits
           if k in statuses and statuses[k] != ({"1"} if k in accepted else {"0"})]
    say(statuses and not odd, f"{version}: GetILTransformationStatus tells the ones from the others", odd)


main()
