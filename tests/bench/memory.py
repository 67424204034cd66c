# SPDX-License-Identifier: MIT
"""memory.py - measures the costs of the tools that record costs: what is allocated, kept and waited for.

Each tool has one method, which returns rows; measure() lists them.
"""
import os
import shutil
import statistics
import tempfile

from measure import in_turns, median_range

WORK, START = 20000, 300  # rounds of the app memory: some 3 GB, and what is measured as the start
HEAD = ["app, runtime", "tool", "user and kernel CPU without, ms", "MB allocated a second of CPU", "CPU, %",
        "aim", "met", "CPU for each 100 KiB, us"]
# % of CPU. Without ticks, 8 and 9 report every object: there is no aim.
ALLOC_AIMS = {"alloc:ticks": 2, "alloc:ticks,live=on": 3, "alloc": None, "alloc:exact": None}


class Memory:
    """usage: Memory(variants, runtimes, quick, note).measure() -> [(title, head, rows)]"""

    def __init__(self, variants, runtimes, quick, note):
        self.variants, self.runtimes, self.quick, self.note = variants, runtimes, quick, note
        self.build = variants.build
        self.folder = tempfile.mkdtemp(prefix="sxsprof-bench-")

    def command(self, version, words, tool):
        """Returns (command, environment) of the app memory under @tool; "": without a profiler."""
        env = self.variants.env["preload" if tool else "none"]
        if tool:
            env = dict(env, SXSPROF_TOOLS=tool, SXSPROF_OUT=os.path.join(self.folder, "s"))
        return ["sh", "-c", 'rm -rf "${SXSPROF_OUT:-/nowhere}"; exec "$@"', "sh",
                os.path.join(self.build, "runsxs"), version, "memory", f"words={words}"], env

    def alloc(self):
        """The app memory splits, counts and sorts words: some 150 KB of objects each round. The CPU time of a
        short run is subtracted, so the start is not included."""
        rows = []
        for version in self.runtimes:
            self.note(f"memory: alloc: {version}")
            commands = {(tool, words): self.command(version, words, tool)
                        for tool in ["", *ALLOC_AIMS] for words in (WORK, START)}
            runs = in_turns(1 if self.quick else 15, commands)
            cpu = {tool: [a["cpu_ms"] - b["cpu_ms"] for a, b in zip(runs[tool, WORK], runs[tool, START])]
                   for tool in ["", *ALLOC_AIMS]}
            megabytes = statistics.median(r["allocated_mb"] for r in runs["", WORK])
            for tool, aim in ALLOC_AIMS.items():
                rows.append(self.row(version, tool, aim, cpu[""], cpu[tool], megabytes))
        return rows

    @staticmethod
    def row(version, tool, aim, without, with_, megabytes):
        percent = [100 * (b / a - 1) for a, b in zip(without, with_)]
        each = [1e3 * (b - a) / (megabytes * 1e6 / 102400) for a, b in zip(without, with_)]
        lo, hi = median_range(percent)
        met = "" if aim is None else "unclear" if len(percent) < 6 or lo < aim <= hi else "yes" if hi < aim else "NO"
        ms = statistics.median(without)
        return [f"words, {version}", f"`{tool}`", f"{ms:.0f}", f"{1000 * megabytes / ms:.0f}",
                f"{statistics.median(percent):+.1f} ({lo:+.1f} to {hi:+.1f})", "" if aim is None else f"< {aim}",
                met, f"{statistics.median(each):.1f}"]

    def measure(self):
        try:
            return [("Allocations", HEAD, self.alloc())]
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)
