# SPDX-License-Identifier: MIT
"""guests.py - what other profilers cost as guests: per callback, at the start, and in memory.

Everything is compared with the same profiler loaded by the runtime directly, or with the library
without guests. The part "hooks" has the enter and leave hooks of guests.
"""
import os
import statistics

from measure import Comparison, in_turns

BARE = "{5E5C0018-0000-4000-8000-000000000000}"


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
        runs = {"direct": ([program, fake, self.bare],
                           dict(self.variants.env["off"], CORECLR_PROFILER=BARE,
                                CORECLR_PROFILER_PATH="@program"))}
        for n in (0, 1, 8):
            runs[n] = (ours, dict(self.env("off", n), CORECLR_PROFILER_PATH="@program"))
        got = in_turns(self.rounds(25), runs)
        ns = {name: [r["method"] / 2 for r in rows] for name, rows in got.items()}
        mid = {name: statistics.median(values) for name, values in ns.items()}
        rows = [["the profiler directly under the runtime", f"{mid['direct']:.1f}", "", ""],
                ["the library without guests", f"{mid[0]:.1f}", "", ""]]
        for n in (1, 8):
            added = [(b - a) / n for a, b in zip(ns[0], ns[n])]
            own = statistics.median(added) - mid["direct"]
            rows.append([f"{n} guest{'s' if n > 1 else ''}", f"{mid[n]:.1f}",
                         f"{statistics.median(added):.1f}",
                         f"{own:.1f}" + (f" (aim: 5, {'met' if own < 5 else 'NOT met'})"
                                         if n == 1 else "")])
        return ("One callback, ns", ["measured", "callback", "added by each guest",
                                     "without the guest's own work"], rows)

    def starts(self):
        """A program that ends at once, on each runtime: time and memory of each guest."""
        rows = []
        for version in self.runtimes:
            self.note(f"guests: start, {version}")
            app = [os.path.join(self.build, "runsxs"), version, "hello", ""]
            got = in_turns(self.rounds(15), {n: (app, self.env("preload", n)) for n in (0, 1, 8)})
            for n in (1, 8):
                wall, cpu, memory = (Comparison(got[0], got[n], key)
                                     for key in ("wall_ms", "cpu_ms", "peak_kb"))
                rows.append([f"{n} guest{'s' if n > 1 else ''}", version,
                             f"{wall.cost / n:.2f} ({wall.cost_range[0] / n:.2f}-"
                             f"{wall.cost_range[1] / n:.2f})", f"{cpu.cost / n:.2f}",
                             f"{memory.cost / n:.0f}"])
        return ("Each guest of a program that ends at once, against the library without guests",
                ["guests", "runtime", "wall, ms", "CPU, ms", "peak memory, KiB"], rows)

    def measure(self):
        return [self.callbacks(), self.starts()]
