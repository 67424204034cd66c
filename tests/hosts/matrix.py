# SPDX-License-Identifier: MIT
"""Runs the hosts of hosts.tsv with every tool, with and without the preloaded library, and compares
each run with a run without the profiler library, the control.

matrix.py --check GROUP   runs each host of a group in a reduced matrix; prints TAP (`make check`)
matrix.py --soak RUNS     runs the whole matrix RUNS times; prints a table (`make hosts`)
matrix.py --controls      runs each host without the library, with each runtime: the first test of a
                          new host
  --hosts PATTERN  only these hosts     --tools A,B  only these tools     BUILD  the build folder
  --verbose        print every difference when it is found
Exit status 0 when nothing failed."""
import argparse
import concurrent.futures
import fnmatch
import itertools
import os
import signal
import sys
import threading

import compare
import run_host
import table

# The reduced matrix of `make check`: what asks most of a host, and in turn one of three others, which differ in
# everything: no tool or all tools, one or two runtimes, with or without preload.
HARDEST = ("all", True, 2)
IN_TURN = (("alone", False, 2), ("all", False, 1), ("alone", True, 1))


class Controls:
    """Results of hosts without the library, with one runtime. Each is run once, and its result
    is kept."""

    def __init__(self, setup):
        self.setup, self.kept, self.lock = setup, {}, threading.Lock()

    def get(self, host, rotation):
        key = (host.name, rotation % len(self.setup.runtimes))
        with self.lock:
            future = self.kept.get(key)
            is_first = future is None
            if is_first:
                future = self.kept[key] = concurrent.futures.Future()
        if is_first:
            try:
                future.set_result(run_host.run(self.setup, host, None, False, 1, rotation))
            except Exception as error: # pylint: disable=broad-except
                future.set_exception(error)
        return future.result()


def try_one(setup, controls, host, tool, preloaded, clrs, rotation):
    """Runs a host once. Returns a list of differences from its control; empty when there are
    none."""
    control = None if host.get("expect") == "claims" else controls.get(host, rotation)
    wrong = compare.sound_control(host, control) if control else []
    if wrong:
        return ["without the library: " + w for w in wrong]
    result = run_host.run(setup, host, tool, preloaded, clrs, rotation)
    wrong = compare.differences(host, control, result, tool, preloaded, clrs)
    return wrong + (compare.explain(result) if wrong else [])


def title(host, tool, preloaded, clrs):
    return "%s, %s, %s, %d runtime%s" % (host.name, "the library alone" if tool == "alone" else
                                         "all tools" if tool == "all" else tool,
                                         "preloaded" if preloaded else "not preloaded", clrs, "s"[:clrs - 1])


def combinations(host):
    """Returns the whole matrix of a host."""
    return [c for c in itertools.product(table.TOOLS, (True, False), host.clrs)]


def checked(host, rotation):
    """Returns the reduced matrix of a host. A host that cannot have two runtimes always has one. One that
    does not support the hardest has two of the others."""
    turn = [IN_TURN[(rotation + i) % len(IN_TURN)] for i in (0, 1)]
    wanted = [(tool, preloaded, min(clrs, host.clrs[-1])) for tool, preloaded, clrs in (HARDEST, *turn)]
    return wanted if host.unsupported(*wanted[0]) else wanted[:2]


def check(setup, hosts):
    """Runs the reduced matrix of each host and prints TAP. Returns the number of failures."""
    number, failed, controls = 0, 0, Controls(setup)
    for rotation, host in enumerate(hosts):
        missing = host.why_not(setup.build)
        if missing:
            number += 1
            print("ok %d - %s # SKIP %s" % (number, host.name, missing), flush=True)
            continue
        for tool, preloaded, clrs in checked(host, rotation):
            number += 1
            name = "%s: %s" % (title(host, tool, preloaded, clrs), host.claim)
            unsupported = host.unsupported(tool, preloaded, clrs)
            if unsupported:
                print("ok %d - %s # SKIP not supported: %s" % (number, name, unsupported), flush=True)
                continue
            wrong = try_one(setup, controls, host, tool, preloaded, clrs, rotation)
            print("%sok %d - %s" % ("not " if wrong else "", number, name), flush=True)
            for line in list(itertools.chain.from_iterable(w.splitlines() for w in wrong))[:120]:
                print("# " + line, flush=True)
            failed += bool(wrong)
    return failed


def cell(host, tool, preloaded, results):
    """Returns the text RUNS/FAILURES of a host with a tool, summed over the numbers of runtimes."""
    runs = failures = 0
    for clrs in host.clrs:
        ran, bad = results.get((host.name, tool, preloaded, clrs), (0, 0))
        runs, failures = runs + ran, failures + bad
    return "%d/%d" % (runs, failures) if runs else "-"


def print_table(hosts, tools, results, skipped):
    """Prints the table. Each cell has runs/failures; "-" means not supported (docs/internals/hosts.md)."""
    width = max(len(h.name) for h in hosts) + 1
    print("\nruns/failures with preload; each second line without")
    print("%-*s %s" % (width, "host", " ".join("%11s" % t for t in tools)))
    for host in hosts:
        if host.name in skipped:
            print("%-*s left out: %s" % (width, host.name, skipped[host.name]))
            continue
        for preloaded in (True, False):
            print("%-*s %s" % (width, host.name if preloaded else "",
                               " ".join("%11s" % cell(host, t, preloaded, results) for t in tools)))


def soak(setup, hosts, tools, runs, jobs, verbose):
    """Runs the whole matrix `runs` times. Returns the number of failures."""
    results, seen, lock = {}, {}, threading.Lock()
    skipped = {h.name: h.why_not(setup.build) for h in hosts if h.why_not(setup.build)}

    def one(work, controls, rotation):
        host, (tool, preloaded, clrs) = work
        wrong = try_one(setup, controls, host, tool, preloaded, clrs, rotation)
        with lock:
            key = (host.name, tool, preloaded, clrs)
            ran, bad = results.get(key, (0, 0))
            results[key] = (ran + 1, bad + bool(wrong))
            if wrong:
                first = "%s: %s" % (title(host, tool, preloaded, clrs), wrong[0].splitlines()[0])
                seen[first] = seen.get(first, 0) + 1
                if verbose:
                    print("\n".join([first] + ["    " + w for w in wrong]), flush=True)

    for rotation in range(runs):
        controls = Controls(setup) # new ones in each round, to find a control that fails sometimes
        work = [(h, c) for h in hosts if h.name not in skipped for c in combinations(h)
                if c[0] in tools and not h.unsupported(*c)]
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            for future in [pool.submit(one, w, controls, rotation) for w in work]:
                future.result()
        print("round %d of %d: %d failures so far" % (rotation + 1, runs, sum(b for _, b in results.values())),
              flush=True)
    print_table(hosts, tools, results, skipped)
    if seen:
        print("\nwhat failed:")
        for first, times in sorted(seen.items()):
            print("  %d x %s" % (times, first))
    failed = sum(b for _, b in results.values())
    print("\n%d runs, %d failures" % (sum(r for r, _ in results.values()), failed))
    return failed


def check_controls(setup, hosts):
    """Runs the controls of each host and prints the wrong claims. Returns the number of hosts
    with any."""
    failed = 0
    for host in hosts:
        missing = host.why_not(setup.build)
        wrong = [] if missing else ["with %s: %s" % (os.path.basename(setup.runtimes[r]), w)
                                    for r in range(len(setup.runtimes)) if host.get("expect") != "claims"
                                    for w in compare.sound_control(host, run_host.run(setup, host, None, False, 1, r))]
        print("%-28s %s" % (host.name, "left out: " + missing if missing else "WRONG" if wrong else "ok"), flush=True)
        for line in list(itertools.chain.from_iterable(w.splitlines() for w in wrong))[:60]:
            print("    " + line, flush=True)
        failed += bool(wrong)
    return failed


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", metavar="GROUP")
    parser.add_argument("--controls", action="store_true")
    parser.add_argument("--soak", metavar="RUNS", type=int)
    parser.add_argument("--hosts", default="*")
    parser.add_argument("--tools", default=",".join(table.TOOLS))
    parser.add_argument("--verbose", action="store_true")
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143)) # runs `finally` clauses
    setup = run_host.Setup(os.environ.get("BUILD", "build"))
    hosts = [h for h in table.read() if fnmatch.fnmatch(h.name, arguments.hosts)
             and arguments.check in (None, h.group)]
    if not hosts:
        parser.error("no host of that name")
    if not setup.runtimes:
        print("hosts: no real runtimes in %s/runtimes" % setup.build)
        return 1
    if arguments.controls:
        return 1 if check_controls(setup, hosts) else 0
    if arguments.check is not None:
        return 1 if check(setup, hosts) else 0
    tools = arguments.tools.split(",")
    unknown = [t for t in tools if t not in table.TOOLS]
    if unknown:
        parser.error("no tool of the name %s" % unknown[0])
    jobs = int(os.environ.get("JOBS", os.cpu_count() or 1))
    return 1 if soak(setup, hosts, tools, arguments.soak or 1, jobs, arguments.verbose) else 0


if __name__ == "__main__":
    sys.exit(main())
