# SPDX-License-Identifier: MIT
"""bench.py - measures the costs of the library; each measurement is paired with a run without the library.

usage: bench.py BUILD DOCUMENT
Prints the tables and writes them to DOCUMENT, between the markers of each part. QUICK=1 takes a few rounds
only and does not change DOCUMENT. PART=library, sampling, web, hooks, il, rewrite, guests, clrie, memory,
native_memory, locks, heap or keep measures only that part.
"""
import datetime
import glob
import os
import sys

from clrie import Clrie
from guests import Guests
from heap import Heap
from hooks import Hooks
from il import Il
from keep import Keep
from locks import Locks
from measure import Comparison, Variants, commit, in_turns, machine
from memory import Memory
from native_memory import NativeMemory
from rewrite import Rewrite
from sampling import Sampling
from web import Web

QUICK = bool(os.environ.get("QUICK"))
HEAD = ["measured", "runtime", "without", "with", "cost", "ratio", "n", "aim", "met"]


def rounds(n):
    return 3 if QUICK else n


def note(text):
    print(f"bench: {text}", file=sys.stderr, flush=True)


class Bench:
    def __init__(self, build):
        self.build = os.path.abspath(build)
        self.variants = Variants(self.build)
        self.rows, self.control = [], []
        self.runtimes = sorted(
            (os.path.basename(os.path.dirname(p))
             for p in glob.glob(os.path.join(self.build, "runtimes/*/libcoreclr.so"))),
            key=lambda v: [int(x) for x in v.split(".")])

    def app(self, version, args):
        return [os.path.join(self.build, "runsxs"), version, "bench", args]

    def compare(self, version, args, n, names):
        return in_turns(n, {name: (self.app(version, args), self.variants.env[name])
                            for name in names})

    def row(self, table, what, runtime, without, with_, key, unit=("", 1), aim=None):
        """Appends a row to @table. @aim: the limit of the cost, in the unit of the row."""
        c = Comparison(without, with_, key)
        name, scale = unit

        def span(mid, ends):
            return f"{mid / scale:.2f} ({ends[0] / scale:.2f}-{ends[1] / scale:.2f})"

        cost = c.cost / scale
        lo, hi = (end / scale for end in c.cost_range)
        met = "" if aim is None else "yes" if hi < aim else "NO" if lo >= aim else "unclear"
        table.append([what, runtime, span(c.a, c.a_range), span(c.b, c.b_range),
                      f"{cost:+.3f} ({lo:+.3f} to {hi:+.3f}) {name}", f"{c.ratio:.3f}", str(c.n),
                      "" if aim is None else f"< {aim:g} {name}", met])

    # ---- one method for each group of rows ---------------------------------------------------------

    def start(self, version):
        sxsprof = [os.path.join(self.build, "sxsprof"), "run", "--quiet", "--"]
        commands = {name: (self.app(version, "start"), self.variants.env[name])
                    for name in ("none", "bare", "router", "preload")}
        commands["command"] = (sxsprof + self.app(version, "start"), self.variants.env["none"])
        r = in_turns(rounds(41), commands)
        ms, mb = ("ms", 1), ("MB", 1000 / 1.024)
        for name, text in (("router", "start"), ("preload", "start, with preload")):
            self.row(self.rows, f"{text}: wall", version, r["none"], r[name], "wall_ms", ms, 5)
            self.row(self.rows, f"{text}: CPU", version, r["none"], r[name], "cpu_ms", ms, 5)
            self.row(self.rows, f"{text}: resident", version, r["none"], r[name], "rss_kib", mb, 2)
            self.row(self.rows, f"{text}: private", version, r["none"], r[name], "private_kib", mb,
                     2)
        self.row(self.control, "start: wall, library against a bare profiler", version, r["bare"],
                 r["router"], "wall_ms", ms)
        self.row(self.control, "start: resident, library against a bare profiler", version,
                 r["bare"], r["router"], "rss_kib", mb)
        self.row(self.control, "start: wall, bare profiler against none", version, r["none"],
                 r["bare"], "wall_ms", ms)
        self.row(self.control, "start: wall, `sxsprof run` against none", version, r["none"],
                 r["command"], "wall_ms", ms)

    def methods(self, version):
        r = self.compare(version, "methods 5000", rounds(25), ("none", "bare", "router"))
        us = ("us", 1000)
        self.row(self.rows, "one method", version, r["none"], r["router"], "ns", us, 0.5)
        self.row(self.control, "one method, library against a bare profiler", version, r["bare"],
                 r["router"], "ns", us)
        self.row(self.control, "one method, bare profiler against none", version, r["none"],
                 r["bare"], "ns", us)

    def signals(self, version):
        us = ("us", 1000)
        for args, text in (("faults 5000", "one NullReferenceException"),
                           ("collections 400", "one collection, a thread stopped by signal")):
            r = self.compare(version, args, rounds(25), ("none", "off", "router", "preload"))
            self.row(self.rows, text, version, r["off"], r["router"], "ns", us, 1)
            self.row(self.rows, f"{text}, with preload", version, r["off"], r["preload"], "ns", us,
                     1)
            self.row(self.control, f"{text}, router off against no profiler", version, r["none"],
                     r["off"], "ns", us)

    def alone(self):
        """Measures the library's own share of the cost, on a simulated runtime without work of its own."""
        fake = os.path.join(self.build, "fakeclr/9.0/libcoreclr.so")
        program = os.path.join(self.build, "bench/bench_callback")
        env = dict(self.variants.env["off"], CORECLR_PROFILER_PATH="@program")
        us = ("us", 1000)
        r = in_turns(rounds(15), {"lib": ([program, fake, self.variants.library], env),
                                  "bare": ([program, fake,
                                            os.path.join(self.build, "bench/libbare.so")], env)})
        self.row(self.rows, "one method: the callbacks alone", "simulated", r["bare"], r["lib"],
                 "method", ("ns", 1), 500)
        program = os.path.join(self.build, "bench/bench_signal")
        r = in_turns(rounds(9), {name: ([program, fake], self.variants.env[name])
                                 for name in ("none", "off", "router", "preload")})
        for name, text in (("router", ""), ("preload", ", with preload")):
            for key in ("fault", "activation"):
                self.row(self.rows, f"one {key}{text}", "simulated", r["off"], r[name], key, us, 1)

    def measure(self):
        note("the library alone, on a simulated runtime")
        self.alone()
        for version in self.runtimes:
            for what in (self.start, self.methods, self.signals):
                note(f"{version}: {what.__name__}")
                what(version)
        self.rows.sort(key=lambda row: row[0])
        self.control.sort(key=lambda row: row[0])


def table(head, rows):
    lines = [head, ["---"] * len(head)] + rows
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    return "\n".join("| " + " | ".join(cell.ljust(w) for cell, w in zip(line, widths)) + " |"
                     for line in lines)


def report(bench, tables):
    cpu, kernel = machine()
    text = (f"{datetime.date.today()}, commit {commit()}, {cpu}, Linux {kernel},"
            f" .NET {', '.join(bench.runtimes) or 'none: simulated runtimes only'}.")
    for title, head, rows in tables:
        text += f"\n\n{title}:\n\n{table(head, rows) if rows else 'none'}"
    return text


def rewrite(document, name, text):
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    with open(document, encoding="utf-8") as f:
        head, rest = f.read().split(begin, 1)
        tail = rest.split(end, 1)[1]
    with open(document, "w", encoding="utf-8") as f:
        f.write(f"{head}{begin}\n{text}\n{end}{tail}")


def library(bench):
    bench.measure()
    return [("The library", HEAD, bench.rows), ("Controls", HEAD, bench.control)]


def sampling(bench):
    return Sampling(bench.variants, QUICK, note).measure()


def web(bench):
    return Web(bench.variants, QUICK, note).measure()


def hooks(bench):
    return Hooks(bench.variants, bench.runtimes, QUICK, note).measure()


def il(bench):
    return Il(bench.variants, bench.runtimes, QUICK, note).measure()


def rewriting(bench):
    return Rewrite(bench.variants, bench.runtimes, QUICK, note).measure()


def guests(bench):
    return Guests(bench.variants, bench.runtimes, QUICK, note).measure()


def clrie(bench):
    return Clrie(bench.variants, bench.runtimes, QUICK, note).measure()


def heap(bench):
    return Heap(bench.variants, bench.runtimes, QUICK, note).measure()


def native_memory(bench):
    return NativeMemory(bench.variants, bench.runtimes, QUICK, note).measure()


def memory(bench):
    return Memory(bench.variants, bench.runtimes, QUICK, note).measure()


def locks(bench):
    return Locks(bench.variants, bench.runtimes, QUICK, note).measure()


def keep(bench):
    return Keep(bench.variants, QUICK, note).measure()


def main():
    parts = {"library": library, "sampling": sampling, "web": web, "hooks": hooks,
             "il": il, "rewrite": rewriting, "guests": guests, "clrie": clrie,
             "memory": memory, "native_memory": native_memory, "locks": locks, "heap": heap,
             "keep": keep}
    chosen = os.environ.get("PART") or "all"
    if len(sys.argv) != 3 or chosen not in [*parts, "all"]:
        sys.exit("usage: [PART=library|sampling|web|hooks|il|rewrite|guests|clrie|memory|native_memory|locks|heap|keep] bench.py "
                 "BUILD DOCUMENT")
    bench = Bench(sys.argv[1])
    for name, part in parts.items():
        if chosen in (name, "all"):
            text = report(bench, part(bench))
            print(text)
            if not QUICK:
                rewrite(sys.argv[2], name, text)
                note(f"{name}: written to {sys.argv[2]}")


main()
