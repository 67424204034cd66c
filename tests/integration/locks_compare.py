# SPDX-License-Identifier: MIT
"""locks_compare.py - compares the waits of a session with what the app "contend" says about them.

usage: locks_compare.py CHECK SESSION OUTPUT-OF-THE-APP
"""
import collections
import re
import sys

import samples_file
from samples_file import LOCK, LOCK_OWNER, OPEN

WAIT = re.compile(r"^(\d+) contend: wait (\w+) (\S+) waiter (\d+) owner (\d+) least (\d+) most (\d+)$", re.M)
STILL = re.compile(r"^(\d+) contend: open (\w+) (\S+) waiter (\d+) owner (\d+)$", re.M)
COUNT = re.compile(r"^(\d+) contend: contentions (\d+)$", re.M)
OTHER = re.compile(r"^(\d+) contend: other (\w+) (\d+)$", re.M)
s = samples_file.Samples(sys.argv[2])
with open(sys.argv[3], encoding="utf-8") as output:
    said = output.read()
number_of = {v.split(".")[0]: n for n, v in s.runtimes.items()}
waits = [c for c in s.costs if c.kind == LOCK]
owners = {c.related: c for c in s.costs if c.kind == LOCK_OWNER}


def type_of(cost):
    return s.names[cost.name].replace(", ", ",")


def matched():
    """Yields (line of the app, cost). Each wait of the app must have one cost, in the order of time: a
    thread waits once."""
    by_thread = collections.defaultdict(list)
    for c in waits:
        by_thread[c.tid].append(c)
    for m in WAIT.finditer(said):
        fitting = [c for c in by_thread[int(m[4])]
                   if c.runtime == number_of[m[1]] and type_of(c) == m[3]]
        assert len(fitting) == 1, (m[0], fitting)
        yield m, fitting[0]


def check_count():
    counted = {number_of[m[1]]: int(m[2]) for m in COUNT.finditer(said)}
    assert counted and set(counted) == set(s.runtimes), (counted, s.runtimes)
    for runtime, n in counted.items():
        recorded = [c for c in waits if c.runtime == runtime]
        assert all(c.n == 1 for c in recorded)
        assert len(recorded) == n, (runtime, len(recorded), n)
        totals = [t for t in s.totals if t.kind == LOCK and t.runtime == runtime]
        assert sum(t.n for t in totals) == n, (runtime, totals)


def check_times():
    n = 0
    for m, c in matched():
        assert not c.flags & OPEN, c
        assert int(m[6]) <= c.value <= int(m[7]), (m[0], c.value)
        n += 1
    assert n >= 18, n


def check_totals():
    sums = collections.defaultdict(lambda: [0, 0])
    for c in waits:
        sums[c.runtime, c.name][0] += 1
        sums[c.runtime, c.name][1] += c.value
    totals = {(t.runtime, t.name): [t.n, t.value] for t in s.totals if t.kind == LOCK}
    assert totals == dict(sums), (totals, dict(sums))


def mostly(missing, n):
    # The stack of a thread that was started less than a moment ago may not be known yet.
    assert n >= 18 and len(missing) <= n // 10, (n, missing)


def check_owners():
    missing, n = [], 0
    for m, c in matched():
        assert c.related == int(m[5]), (m[0], c.related)
        n += 1
        owner = owners.get(c.id)
        if owner is None or owner.n_ips <= 1:
            missing.append(m[0])
            continue
        assert owner.tid == c.related and owner.n == 1 and owner.runtime == c.runtime, owner
        assert any("Contend.Rounds" in f for f in s.functions(owner)), (m[0], s.functions(owner))
    mostly(missing, n)


def check_stacks():
    missing, n = [], 0
    for m, c in matched():
        n += 1
        if c.n_ips == 0:
            missing.append(m[0])
            continue
        functions = s.functions(c)
        assert any(f"Contend.Sites.{m[2]}(" in f for f in functions), (m[0], functions, c)
    mostly(missing, n)


def check_open():
    n = 0
    for m in STILL.finditer(said):
        fitting = [c for c in waits if c.tid == int(m[4]) and c.runtime == number_of[m[1]]]
        assert len(fitting) == 1, (m[0], fitting)
        c = fitting[0]
        assert c.flags & OPEN and c.related == int(m[5]) and type_of(c) == m[3], (m[0], c)
        # the app waited for 400 ms before it ended or said that it is ready to be killed
        assert 250e6 <= c.value < 100e9, (m[0], c.value)
        n += 1
    assert n >= 2, n
    check_totals()


def check_none():
    assert not [c for c in waits if type_of(c).startswith("Contend.")], waits
    check_count()


def check_others():
    assert OTHER.search(said)
    # The app waits eight times for each. These classes use a monitor for a moment, which may be contended for.
    assert all(int(m[3]) < 8 for m in OTHER.finditer(said))
    check_count()


def check_pool():
    queued = {m[1]: int(m[2]) for m in re.finditer(r"^(\d+) contend: queued (\d+)$", said, re.M)}
    assert queued
    for major, most in queued.items():
        changes = [p for p in s.pools if p.runtime == number_of[major]]
        starved = [p for p in changes if p.change == 3 and p.reason == 6]
        threads = [p.value for p in changes if p.change == 1]
        lengths = [p.value for p in changes if p.change == 4]
        assert starved and max(threads) >= max(p.value for p in starved) - 1, (starved, threads)
        assert lengths and max(lengths) <= most, (lengths, most)
        assert max(lengths) >= most // 4, (lengths, most)


globals()["check_" + sys.argv[1]]()
