# SPDX-License-Identifier: MIT
"""guests.py - what other profilers cost as guests: per callback, at the start, and in memory.

Everything is compared with the same profiler loaded by the runtime directly, or with the library
without guests.
"""
import os
import statistics

from measure import Comparison, in_turns

BARE = "{5E5C0018-0000-4000-8000-000000000000}"


def spread(values):
    """The median, and in brackets the least and the greatest value."""
    return f"{statistics.median(values):.1f} ({min(values):.1f}-{max(values):.1f})"


class Guests:
    def __init__(self, variants, runtimes, quick, note):
        self.variants, self.runtimes, self.quick, self.note = variants, runtimes, quick, note
        self.build = variants.build
        self.bare = os.path.join(self.build, "bench/libbare.so")

    def env(self, name, n):
        """The environment of @name with @n guests, all of them the bare profiler."""
        return dict(self.variants.env[name],
                    SXSPROF_GUESTS=";".join([f"{BARE}={self.bare}"] * n))

    def rounds(self, n):
        return 3 if self.quick else n

    def callbacks(self):
        """One callback on a simulated runtime. A method is two: compilation started and finished."""
        self.note("guests: callbacks")
        fake = os.path.join(self.build, "fakeclr/9.0/libcoreclr.so")
        program = os.path.join(self.build, "bench/bench_callback")
        ours = [program, fake, self.variants.library]
        posed = {"CORECLR_PROFILER_PATH": "@program"}
        runs = {"direct": ([program, fake, self.bare], dict(self.variants.env["off"], **posed))}
        for n in (0, 1, 8):
            runs[n] = (ours, dict(self.env("off", n), **posed))
        got = in_turns(self.rounds(25), runs)
        ns = {name: [{"ns": r["method"] / 2} for r in rows] for name, rows in got.items()}
        direct = statistics.median(r["ns"] for r in ns["direct"])
        rows = []
        for name, text in (("direct", "the profiler directly under the runtime"),
                           (0, "the library without guests")):
            values = [r["ns"] for r in ns[name]]
            rows.append([text, spread(values), "", ""])
        for n in (1, 8):
            c = Comparison(ns[0], ns[n], "ns")
            own, ends = c.cost / n - direct, [end / n - direct for end in c.cost_range]
            rows.append([f"{n} guest{'s' if n > 1 else ''}", spread([r["ns"] for r in ns[n]]),
                         f"{c.cost / n:.1f}",
                         f"{own:.1f} ({ends[0]:.1f} to {ends[1]:.1f}); aim: 5, "
                         f"{'met' if ends[1] < 5 else 'NOT met' if ends[0] >= 5 else 'unclear'}"])
        return ("One callback, ns", ["measured", "callback", "added by each guest",
                                     "without the guest's own work"], rows)

    def hooks(self, version):
        """Returns {name: (command, environment)} of the app "bench" with the hooks of each kind."""
        app = [os.path.join(self.build, "runsxs"), version, "bench", "pairs 1"]
        tiers = {"DOTNET_TieredCompilation": "0"}
        runs = {"none": (app, dict(self.variants.env["none"], **tiers)),
                "direct": (app, dict(self.variants.env["bare"], BARE_HOOKS="empty", **tiers)),
                "library": (app, dict(self.env("preload", 0), **tiers))}
        for name, n in (("one", 1), ("two", 2), ("eight", 8), ("one of two", 1)):
            runs[name] = (app, dict(self.env("preload", n), BARE_HOOKS="empty", **tiers))
        # A library of its own, because a library has one environment.
        unwilling = f";{BARE}={self.bare.replace('libbare', 'libunwilling')},env=BARE_HOOKS=unwanted"
        runs["one of two"][1]["SXSPROF_GUESTS"] += unwilling
        return runs

    def pairs(self):
        """A call with its enter and leave hook, on each runtime."""
        rows = []
        for version in self.runtimes[-1:] if self.quick else self.runtimes:
            self.note(f"guests: hooks, {version}")
            got = in_turns(self.rounds(11), self.hooks(version))
            hook = Comparison(got["none"], got["direct"], "fib").cost
            for name, text, n in (
                    ("none", "no hooks", 0), ("direct", "the profiler directly", 1),
                    ("library", "the library without guests", 0), ("one", "one guest", 1),
                    ("one of two", "two guests, one of which wants the function", 1),
                    ("two", "two guests that want the function", 2),
                    ("eight", "eight guests that want the function", 8)):
                c = Comparison(got["none"], got[name], "fib")
                rows.append([text, version, spread([r["fib"] for r in got[name]]),
                             spread([r["turns"] for r in got[name]]),
                             f"{c.cost:+.1f} ({c.cost_range[0]:+.1f} to {c.cost_range[1]:+.1f})",
                             f"{n * hook:+.1f}"])
        return ("A call with its enter and leave, ns",
                ["hooks", "runtime", "fib", "turns", "fib: more than without hooks",
                 "sum of the hooks"], rows)

    def starts(self):
        """A program that ends at once, on each runtime and on all: time and memory of each guest."""
        rows = []
        all_of_them = [self.runtimes] if len(self.runtimes) > 1 else []
        for versions in [[v] for v in self.runtimes] + all_of_them:
            self.note(f"guests: start, {' '.join(versions)}")
            app = [os.path.join(self.build, "runsxs")]
            for version in versions:
                app += [version, "hello", ""]
            got = in_turns(self.rounds(15), {n: (app, self.env("preload", n)) for n in (0, 1, 8)})
            for n in (1, 8):
                row = [f"{n} guest{'s' if n > 1 else ''}",
                       versions[0] if len(versions) == 1 else f"{len(versions)} in one process"]
                for key, digits in (("wall_ms", 2), ("cpu_ms", 2), ("peak_kb", 0)):
                    c = Comparison(got[0], got[n], key)
                    cost, lo, hi = (x / n / len(versions) for x in (c.cost, *c.cost_range))
                    row.append(f"{cost:.{digits}f} ({lo:.{digits}f} to {hi:.{digits}f})")
                rows.append(row)
        return ("Each guest on each runtime of a program that ends at once, against the library "
                "without guests", ["guests", "runtime", "wall, ms", "CPU, ms", "peak memory, KiB"],
                rows)

    def measure(self):
        return [self.callbacks(), self.pairs(), self.starts()]
