# SPDX-License-Identifier: MIT
"""hooks.py - measures the costs of enter and leave hooks, against no hooks, empty hooks and common hooks."""
import glob
import os
import shutil
import statistics
import struct
import subprocess
import tempfile

from measure import Comparison, in_turns, newest_runtime

LATEST = newest_runtime()
LIBRARY, BARE, COMMAND, GUESTS = range(4)
# name: (name in the table, whose hooks, their setting, kind to compare with, limit in ns of the difference)
KINDS = {
    "empty": ("empty: return at once", BARE, "empty", None, None),
    "count": ("`calls:count`", LIBRARY, "calls:count", "empty", 3),
    "stamps": ("two time stamp reads, nothing else", BARE, "stamps", None, None),
    "time": ("`calls:time,backoff=off`", LIBRARY, "calls:time,backoff=off", "stamps", None),
    "tree": ("`calls:backoff=off`, the tree", LIBRARY, "calls:backoff=off", "stamps", 15),
    "off": ("the tree, functions timed no longer", LIBRARY, "calls:backoff=1/1000000", "empty",
            None),
    "trace": ("`calls:trace=256,backoff=off`", LIBRARY, "calls:trace=256,backoff=off", "stamps",
              None),
    "guest": ("empty, of one guest", GUESTS, "1", "empty", None),
    "guests": ("empty, of two guests", GUESTS, "2", "empty", None),
    "naive": ("a lock, a hash table, `clock_gettime`", BARE, "naive", None, None),
    "args": ("slow path: two arguments read", BARE, "args", None, None),
    "values": ("`--values`", COMMAND, "--values", "args", None),
}
ONE_THREAD_ONLY = ("trace", "values")
# Offset in struct sxs_calls_header (session/format/calls.h); the number of taken chunks follows. Bytes of a
# chunk.
N_CHUNKS, CHUNK = 72, 65536

PAIRS_HEAD = ["hooks", "runtime", "threads", "fib: ns a pair", "turns: ns a pair", "held against",
              "fib: ns more", "turns: ns more", "aim", "met"]
SAME_HEAD = ["hooks", "threads", "fib: ns more than at 1 thread", "turns: ns more"]
ALONE_HEAD = ["hooks", "fib: ns a pair", "turns: ns a pair"]
MEMORY_HEAD = ["work", "calls", "paths", "file in use, KiB", "resident without, KiB",
               "with, KiB", "more, KiB"]
EVENT_HEAD = ["measured", "tool", "runtime", "without, us", "with, us", "cost, us", "ratio", "n"]


def span(mid, ends, digits=1, sign="+"):
    lo, hi = ends
    return f"{mid:{sign}.{digits}f} ({lo:{sign}.{digits}f} to {hi:{sign}.{digits}f})"


def met(comparisons, aim):
    if aim is None:
        return "", ""
    if all(c.cost_range[1] < aim for c in comparisons):
        return f"< {aim}", "yes"
    return f"< {aim}", "NO" if any(c.cost_range[0] >= aim for c in comparisons) else "unclear"


def paths_of(n):
    """Returns the number of call paths of `bench paths @n`: 23 calls deep, n/2 paths at most at each
    depth. Each call but the last makes the next call through one more method."""
    ways = [min(n // 2, 2 ** k) for k in range(23)]
    return sum(ways) + sum(ways[:-1])


class Hooks:
    """usage: Hooks(bench.variants, runtimes, quick, note).measure() -> [(title, head, rows)]"""

    def __init__(self, variants, runtimes, quick, note):
        self.variants, self.runtimes, self.quick, self.note = variants, runtimes, quick, note
        self.build = variants.build
        self.folder = tempfile.mkdtemp(prefix="sxsprof-bench-")
        self.kinds = dict(KINDS)
        if not self.has_values():
            del self.kinds["values"]

    def has_values(self):
        command = [os.path.join(self.build, "sxsprof"), "run", "--quiet", "--values", "bench:*",
                   "-o", os.path.join(self.folder, "values"), "--", "true"]
        return subprocess.run(command, stderr=subprocess.DEVNULL, check=False).returncode == 0

    def rounds(self, n):
        return 1 if self.quick else n

    def session(self, tools):
        return os.path.join(self.folder, tools.replace("/", "_"))

    def command(self, version, work, who=None, what="none", tiers="0"):
        """Returns (command, environment) of the app with a tool of the library, bare hooks, or no hooks.

        With @tiers "0" all code is optimized at its first call."""
        command = [os.path.join(self.build, "runsxs"), version, "bench", work]
        out = self.session(f"guests{what}" if who == GUESTS else what)
        name = {None: "none", LIBRARY: "preload", BARE: "bare", COMMAND: "none", GUESTS: "preload"}[who]
        env = dict(self.variants.env[name], DOTNET_TieredCompilation=tiers, SXSPROF_OUT=out)
        if who == LIBRARY:
            env["SXSPROF_TOOLS"] = what
        if who == BARE:
            env["BARE_HOOKS"] = what
        if who == GUESTS:  # each is the profiler of bare hooks
            path = self.variants.env["bare"]["CORECLR_PROFILER_PATH"]
            env["SXSPROF_GUESTS"] = "".join(
                f"{{5E5C0018-0000-4000-8000-00000000000{n}}}={path};" for n in range(int(what)))
            env["BARE_HOOKS"] = "empty"
        if who == COMMAND:
            del env["SXSPROF_OUT"]
            command = [os.path.join(self.build, "sxsprof"), "run", "--quiet", what, "bench:*",
                       "-o", out, "--"] + command
        script = 'rm -rf "$0"; "$@" && { [ -z "${SXSPROF_TOOLS:-}" ] || [ -d "$0" ]; }'
        return ["sh", "-c", script, out] + command, env

    # ---- one method for each table -----------------------------------------------------------------

    def run_pairs(self):
        """Returns {(version, threads): {kind: runs}}. Only the latest runtime runs with several threads."""
        cells = [(version, 1) for version in self.runtimes]
        if LATEST in self.runtimes:
            cells += [(LATEST, 2), (LATEST, 8)]
        commands = {}
        for version, threads in cells[-1:] if self.quick else cells:
            work = f"pairs {threads}"
            commands[version, threads, "none"] = self.command(version, work)
            for kind, (_, who, what, _, _) in self.kinds.items():
                if threads == 1 or kind not in ONE_THREAD_ONLY:
                    commands[version, threads, kind] = self.command(version, work, who, what)
        runs = {}
        for (version, threads, kind), got in in_turns(self.rounds(7), commands).items():
            runs.setdefault((version, threads), {})[kind] = got
        return runs

    def pairs(self, runs):
        rows = []
        for kind, (text, _, _, against, aim) in self.kinds.items():
            for (version, threads), got in runs.items():
                if kind not in got:
                    continue
                costs = [Comparison(got["none"], got[kind], key) for key in ("fib", "turns")]
                more = [Comparison(got[against], got[kind], key)
                        for key in ("fib", "turns")] if against else []
                rows.append([
                    text, version, str(threads), *(span(c.cost, c.cost_range, sign="") for c in costs),
                    self.kinds[against][0] if against else "",
                    *([span(c.cost, c.cost_range) for c in more] or ["", ""]), *met(more, aim)])
        return rows

    def same(self, runs):
        """Compares several threads with one. Threads share no data, so no cost is expected."""
        rows = []
        for kind in ("none", *self.kinds):
            for threads in (2, 8):
                got, one = runs.get((LATEST, threads), {}), runs.get((LATEST, 1), {})
                if kind not in got or kind not in one:
                    continue
                more = [Comparison(one[kind], got[kind], key) for key in ("fib", "turns")]
                rows.append([self.kinds[kind][0] if kind in self.kinds else "none", str(threads),
                             *(span(c.cost, c.cost_range) for c in more)])
        return rows

    def alone(self):
        program = os.path.join(self.build, "bench/bench_hooks")
        out = os.path.join(self.folder, "alone")
        script = 'rm -rf "$0"; mkdir "$0"; exec "$@" "$0"'
        runs = in_turns(self.rounds(5), {"alone": (["sh", "-c", script, out, program],
                                                   self.variants.env["none"])})["alone"]
        return [[name.partition("_")[2], *(
            f"{statistics.median(r[work + name[3:]] for r in runs):.1f}" for work in ("fib", "turns"))]
            for name in runs[0] if name.startswith("fib_")]

    def memory(self):
        rows = []
        tree = "calls:backoff=off"
        for work, calls, paths in (("millions 1", 10**6, 3), ("millions 10", 10**7, 3),
                                   ("millions 100", 10**8, 3), *(
                                       (f"paths {n}", 45 * n, paths_of(n))
                                       for n in (10**3, 10**4, 10**5))):
            runs = in_turns(self.rounds(3), {"none": self.command(LATEST, work),
                                             "tree": self.command(LATEST, work, LIBRARY, tree)})
            c = Comparison(runs["none"], runs["tree"], "rss_kib")
            used = ""
            for path in glob.glob(os.path.join(self.session(tree), "*/calls")):
                with open(path, "rb") as f:
                    both = struct.unpack_from("<II", f.read(N_CHUNKS + 8), N_CHUNKS)
                used = min(both) * CHUNK // 1024
            rows.append([work, f"{calls:,}", f"{paths:,}", f"{used}", f"{c.a:.0f}", f"{c.b:.0f}",
                         f"{c.cost:+.0f}"])
        return rows

    def events(self):
        rows = []
        for version in self.runtimes[-1:] if self.quick else self.runtimes:
            for work, text, tools in (("methods 5000", "one method compiled", ("events", "calls")),
                                      ("exceptions 5000", "one exception, thrown and caught",
                                       ("exceptions", "events", "calls"))):
                commands = {"none": self.command(version, work, tiers="1")}
                commands.update({t: self.command(version, work, LIBRARY, t, "1") for t in tools})
                runs = in_turns(self.rounds(7), commands)
                for tool in tools:
                    c = Comparison(runs["none"], runs[tool], "ns")
                    rows.append([text, tool, version, f"{c.a / 1e3:.2f}", f"{c.b / 1e3:.2f}",
                                 span(c.cost / 1e3, [x / 1e3 for x in c.cost_range], 2),
                                 f"{c.ratio:.2f}", str(c.n)])
        return sorted(rows)

    def measure(self):
        try:
            self.note("hooks: alone")
            tables = [("Hooks by themselves", ALONE_HEAD, self.alone())]
            if not self.runtimes:
                return tables
            self.note("hooks: a pair of enter and leave")
            runs = self.run_pairs()
            tables.append(("A pair of enter and leave", PAIRS_HEAD, self.pairs(runs)))
            tables.append((f"More threads, .NET {LATEST}", SAME_HEAD, self.same(runs)))
            if LATEST in self.runtimes:
                self.note("hooks: memory")
                tables.append((f"Memory, .NET {LATEST}", MEMORY_HEAD, self.memory()))
            self.note("hooks: events")
            return tables + [("Events", EVENT_HEAD, self.events())]
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)
