# SPDX-License-Identifier: MIT
"""Checks for diff_versions.sh: diff_versions.py COMMAND FOLDER OLD NEW. FOLDER has page.html and text, of sxsprof diff,
a and b, the collapsed stacks of both sides, and of a fleet diff, top_a and top_b (JSON). OLD and NEW: versions."""
import collections
import json
import re
import sys

command, folder, OLD, NEW = sys.argv[1:5]
PAIR = f"{OLD} -> {NEW}"
GC, JIT, UNKNOWN, OWN, TYPE, WAIT = 1, 2, 4, 8, 16, 32
DIGITS = {c: i for i, c in enumerate("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")}


def numbers(text):
    value = shift = 0
    for c in text:
        value |= (DIGITS[c] & 31) << shift
        shift += 5
        if DIGITS[c] < 32:
            yield value
            value = shift = 0


class Row:
    """A function: the version of its runtime ("" for other native code), its name, and its own and whole weight on both
    sides."""

    def __init__(self, version, name, managed):
        self.version, self.name, self.managed, self.own, self.total = version, name, managed, [0, 0], [0, 0]


def page_rows(path):
    """The functions of a page with a difference, and the weight of each side."""
    with open(path, encoding="utf-8") as f:
        html = f.read()
    data = json.loads(re.search(r'<script type="application/json"[^>]*>\n?(\{.*?)\n?</script>', html, re.S).group(1))
    strings, runtimes, unit = data["strings"], data["runtimes"], data["unitNs"]
    rows = []
    for f in data["frames"]:
        version = runtimes[f[2] - 1][1] if f[2] else ""
        rows.append(Row(version, strings[f[0]] if f[2] else strings[f[1]] + "!" + strings[f[0]], bool(f[2])))
    before = numbers(data["before"])
    each, path_, sums = numbers(data["nodes"]), [], [0, 0]
    nodes = [[next(each) for _ in range(5)] for _ in range(data["nNodes"])]
    for i, (up, frame, _, weight, _) in enumerate(nodes):
        weights = [next(before) * unit, weight * unit]
        del path_[len(path_) - up if i else 0:]
        path_.append(None if not path_ else frame)
        for side in range(2):
            sums[side] += weights[side]
            if path_[-1] is not None:
                rows[frame].own[side] += weights[side]
            for f in {f for f in path_ if f is not None}:
                rows[f].total[side] += weights[side]
    return rows, sums


def json_rows(path):
    with open(path, encoding="utf-8") as f:
        data = json.load(f)
    rows = []
    unit = data["unit"]
    for f in data["functions"]:
        managed = f["name"].startswith(f'[{f["version"]}] ')
        row = Row(f["version"], f["name"][len(f["version"]) + 3:] if managed else f["name"], managed)
        if "self_" + unit in f:
            row.own, row.total = [f["self_" + unit], 0], [f["total_" + unit], 0]
        else:
            row.own, row.total = [[f[f"{what}_{unit}_{side}"] for side in "ab"] for what in ("self", "total")]
        rows.append(row)
    return rows, [data.get(f"total_{unit}_a", data.get(f"total_{unit}")), data.get(f"total_{unit}_b", 0)]


def stacks_sum(path):
    """The weight of all collapsed stacks, and the own weight of managed functions without their parameters."""
    own, total = collections.Counter(), 0
    with open(path, encoding="utf-8") as f:
        for line in f:
            stack, weight = line.rstrip("\n").rsplit(" ", 1)
            total += int(weight)
            last = stack.split(";")[-1]
            if re.match(r"\[\d", last):
                own[last] += int(weight)
    return total, own


def find(rows, name, version=None):
    found = [r for r in rows if r.name.startswith(name) and (version is None or r.version == version)]
    assert len(found) == 1, (name, version, [(r.version, r.name, r.total) for r in rows if r.name.startswith(name)])
    return found[0]


def check_matched(rows):
    """No function is on one side only with one version, and on the other side only with another."""
    sides = collections.defaultdict(lambda: [set(), set()])
    for r in rows:
        for side in range(2):
            if r.version and r.total[side] and not r.total[1 - side]:
                sides[r.name][side].add(r.version)
    twice = {name: s for name, s in sides.items() if s[0] and s[1]}
    assert not twice, f"{len(twice)} functions are gone and new, such as {list(twice.items())[:3]}"
    assert not {r.version for r in rows if r.version} - {OLD, NEW, PAIR, f"{NEW} -> {OLD}"}, {r.version for r in rows}


def check_sums(rows, sums):
    """What both sides have is what the sessions have, in all and by function."""
    for side, path in enumerate("ab"):
        total, own = stacks_sum(f"{folder}/{path}")
        assert sums[side] == total, (side, sums[side], total)
        shown = collections.Counter()
        for r in rows:
            if r.managed:
                shown[short(r.name)] += r.own[side]
        want = collections.Counter()
        for name, weight in own.items():
            want[name.split("] ", 1)[1]] += weight
        assert +shown == +want, [(want - shown).most_common(3), (shown - want).most_common(3)]


def short(name):
    """The name without its parameters, and with the ':' that collapsed stacks have for ';'."""
    depth = 0
    for i in range(len(name) - 1, -1, -1):
        depth += (name[i] == ")") - (name[i] == "(")
        if depth == 0:
            return name[: i or len(name)].replace(";", ":") if name.endswith(")") else name
    return name


def share(row, sums, side, own=True):
    return (row.own if own else row.total)[side] / sums[side]


def check_same(rows, sums, version):
    for name in "Alpha", "Beta", "Main":
        row = find(rows, f"Shares.Program.{name}(", version)
        assert row.total[0] and row.total[1], (name, row.total)
    entry = [r for r in rows if r.name.endswith("libcoreclr.so!coreclr_execute_assembly")]
    assert len(entry) == 1 and entry[0].total[0] and entry[0].total[1], [(r.version, r.total) for r in entry]


def check_changed(rows, sums, version, grew):
    alpha, beta = (find(rows, f"Shares.Program.{name}(", version) for name in ("Alpha", "Beta"))
    change = [share(r, sums, 1) - share(r, sums, 0) for r in (alpha, beta)]
    assert change[0] * grew > 0.1 and change[1] * grew < -0.1, change


def check_both(rows, sums):
    """OLD and NEW beside each other, and then NEW alone."""
    for name in "Alpha", "Beta", "Main":
        kept, gone = (find(rows, f"Shares.Program.{name}(", v) for v in (NEW, OLD))
        assert kept.total[0] and kept.total[1] and gone.total[0] and not gone.total[1], (name, kept.total, gone.total)


def text_functions():
    with open(f"{folder}/text", encoding="utf-8") as f:
        return {line.rstrip("\n").split(None, 10)[-1]: line for line in f if re.search(r"\] \S", line) and "%" in line}


def is_fleet():
    return command.startswith("fleet_")


rows, sums = page_rows(f"{folder}/page.html")
tables = [(rows, sums)]
if is_fleet():
    tables.append(json_rows(f"{folder}/diff"))
    for side, path in enumerate(("top_a", "top_b")):
        top, _ = json_rows(f"{folder}/{path}")
        for of in "own", "total":  # by function, whatever the version is: what each side has alone
            want, got = (collections.Counter(), collections.Counter())
            for r in top:
                want[r.name] += getattr(r, of)[0]
            for r in tables[1][0]:
                got[r.name] += getattr(r, of)[side]
            assert +want == +got, [(want - got).most_common(3), (got - want).most_common(3)]
for rows, sums in tables:
    what = command.removeprefix("fleet_")
    check_sums(rows, sums)
    if what == "both":
        check_both(rows, sums)
        continue
    check_matched(rows)
    if what == "same":
        check_same(rows, sums, PAIR)
    elif what == "changed":
        check_changed(rows, sums, PAIR, 1)
    else:
        check_changed(rows, sums, f"{NEW} -> {OLD}", -1)
if not is_fleet() and command != "both":
    listed = text_functions()
    versions = {"changed_back": f"{NEW} -> {OLD}"}.get(command, PAIR)
    own = [name for name in listed if re.search(r"Shares\.Program\.(Alpha|Beta)\(", name)]
    print("\n".join(listed))
    if command == "same":
        assert not own, own
    else:
        assert sorted(own) == [f"[{versions}] Shares.Program.{n}(System.Int64)" for n in ("Alpha", "Beta")], own
print(f"{len(rows)} functions")
