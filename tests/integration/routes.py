# SPDX-License-Identifier: MIT
"""routes.py SESSION REPORT REQUESTS - compares what a session says about the endpoints of the app `routes` with what the
client has asked for.

Each endpoint computes in a method of its own, so the route of a sample is known from its stack. A wrong one is an error; so
are many samples without one. REPORT is the session's report as JSON, REQUESTS the output of routes_client.py.
"""
import collections
import glob
import json
import struct
import sys

from samples_file import Samples, raw

RECORD_SAMPLE, ROUTE, PATH = 1, 2, 1
Stack = collections.namedtuple("Stack", "ips")
METHODS = {
    "Order": "/order/{id}",
    "Hopping": "/hop/{id:int}",
    "Pool": "/orders/{id}",
    "User": "/group/{tenant}/user/{id}",
    "Child": "/child/{id}",
    "Item": "/mvc/Shop/item/{id}",
    "Show": "Routes.PlainController.Show (routes)",
    "Branch": "/static/{number}/{guid}",
}


def method_of(functions):
    for function in functions:
        name = function.split("Routes.Work.")[-1].split("(")[0]
        if function.startswith("Routes.Work.") and name in METHODS:
            return name
    return None


def contexts_of(path):
    """(functions, [(endpoint, source)]) of each sample"""
    samples = Samples(path)
    file, = glob.glob(path + "/*/samples")
    with open(file, "rb") as opened:
        data = opened.read()
    for kind, r in raw(data):
        if kind != RECORD_SAMPLE:
            continue
        _, _, _, _, _, n = struct.unpack_from("<QQIBBH", r, 8)
        contexts = []
        for at in range(32 + 8 * n, len(r) - 31, 32):
            endpoint, _, source = struct.unpack_from("<IHH", r, at + 24)
            contexts.append((samples.names.get(endpoint), source))
        yield samples.functions(Stack(struct.unpack_from(f"<{n}Q", r, 32))), contexts


def check_samples(path):
    counts, lacking, errors = collections.Counter(), collections.Counter(), []
    for functions, contexts in contexts_of(path):
        method = method_of(functions)
        if not method:
            continue
        counts[method] += 1
        wanted = PATH if method == "Branch" else ROUTE
        if len(contexts) != 1 or contexts[0][1] < wanted or contexts[0][0] is None:
            lacking[method] += 1
        elif contexts[0] != (METHODS[method], wanted):
            errors.append(f"a sample of {method} has {contexts}")
    print(dict(counts), "without:", dict(lacking))
    assert not errors, errors[:5]
    assert all(counts[m] >= 5 for m in METHODS), counts
    assert sum(lacking.values()) <= 0.1 * sum(counts.values()), lacking
    return counts


def check_report(path, requests_path, counts):
    with open(requests_path, encoding="utf-8") as file:
        requests = {w[2]: int(w[1]) for w in (line.rstrip("\n").split(" ", 2) for line in file) if w[0] == "requests"}
    with open(path, encoding="utf-8") as file:
        report = json.load(file)
    endpoints = {e["endpoint"]: e for e in report["endpoints"]}
    print({name: (e["samples"], e["trace_count"]) for name, e in endpoints.items()})
    for method, name in METHODS.items():
        assert name in endpoints, name
        assert 0 < endpoints[name]["trace_count"] <= requests[name], (name, endpoints[name], requests[name])
    # The first requests may have been sampled before the classes were known: by other names, and few.
    others = sum(e["samples"] for name, e in endpoints.items() if name not in METHODS.values())
    assert others <= 0.1 * sum(e["samples"] for e in endpoints.values()), endpoints.keys()
    assert not any(name.startswith(("/order/", "/hop/")) and "{" not in name for name in endpoints), endpoints.keys()
    assert sum(e["samples"] for e in endpoints.values()) >= sum(counts.values()) * 0.9


check_report(sys.argv[2], sys.argv[3], check_samples(sys.argv[1]))
