# SPDX-License-Identifier: MIT
"""segments.py - for segments.sh: compares the report of a folder of segments with those of its segments.

usage: segments.py sums ALL.json ONE.json...      counts of the joined report are the sums of the others
       segments.py stacks ALL OTHER...            so are the weights of collapsed stacks
       segments.py batches FOLDER                 prints the number of different batches that a server received
"""
import collections
import glob
import json
import re
import sys


def load(path):
    with open(path, encoding="utf-8") as f:
        return json.load(f)


def counts(report):
    """Returns what can be added up, by what it is about."""
    all_ = collections.Counter()
    for r in report["runtimes"]:
        for key in ("modules", "methods", "threads_created", "gcs", "exceptions_thrown"):
            all_[r["version"], key] += r[key]
    for e in report.get("exceptions", []):
        all_[e["version"], "exception", e["type"], e.get("fate")] += e["count"]
    all_["collections"] += len(report.get("collections", []))
    return all_


def sums(path, others):
    report, expected = load(path), collections.Counter()
    for other in others:
        expected.update(counts(load(other)))
    got = counts(report)
    bad = [k for k in got | expected if got[k] != expected[k]]
    for key in bad[:20]:
        print(key, "joined:", got[key], "sum:", expected[key])
    if len(report["segments"]) != len(others):
        bad.append("segments")
        print(len(report["segments"]), "segments, expected", len(others))
    if len({r["pid"] for r in report["runtimes"]}) * 3 != len(report["runtimes"]):
        bad.append("runtimes")
        print("runtimes:", [(r["pid"], r["version"]) for r in report["runtimes"]])
    for key in ("exceptions_thrown", "gcs"):
        if not sum(r[key] for r in report["runtimes"]):
            bad.append(key)
            print("no", key)
    return bad


def stacks(path):
    all_ = collections.Counter()
    with open(path, encoding="utf-8") as f:
        for line in f:
            stack, weight = line.rstrip("\n").rsplit(" ", 1)
            # A segment in which no event of a thread was seen does not have its name.
            thread = re.match(r"[^;]*?(\[\d+\](?=;|$))", stack)
            all_[thread[1] + stack[thread.end():] if thread else stack] += int(weight)
    return all_


def same_stacks(path, others):
    expected = collections.Counter()
    for other in others:
        expected.update(stacks(other))
    got = stacks(path)
    print(sum(got.values()), "ns in", len(got), "stacks; expected", sum(expected.values()), "in", len(expected))
    for stack in list((got - expected) + (expected - got))[:5]:
        print(got[stack], expected[stack], stack)
    return got != expected or not got


def batches(folder):
    ids = set()
    for path in glob.glob(folder + "/*.json"):
        ids.add(load(path)["headers"]["Sxsprof-Batch"])
    print(len(ids))


if sys.argv[1] == "batches":
    batches(sys.argv[2])
else:
    sys.exit(1 if {"sums": sums, "stacks": same_stacks}[sys.argv[1]](sys.argv[2], sys.argv[3:]) else 0)
