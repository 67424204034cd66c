# SPDX-License-Identifier: MIT
"""il.py - measures the IL library on method bodies, against a copy of their bytes and against Mono.Cecil."""
import glob
import os
import statistics

from measure import in_turns

HEAD = ["per body", "runtime", "bodies", "ns", "bodies a second", "aim", "met", "n"]
MODES = {
    "copy": ("a copy of its bytes, nothing else", None),
    "write": ("read, written", 1e6),
    "check": ("read, checked, written", None),
    "wrap": ("read, wrapped (entry, exit, try and catch), checked, written", None),
    "text": ("read, as ilasm's text with names", None),
    "cecil": ("Mono.Cecil: read, written with the assembly", None),
}


class Il:
    def __init__(self, variants, runtimes, quick, note):
        self.build, self.env = variants.build, variants.env["none"]
        self.runtimes, self.note = runtimes, note
        self.rounds = 2 if quick else 7

    def command(self, mode, files):
        if mode == "cecil":
            return ["dotnet", os.path.join(self.build, "tools/cecil/cecil.dll"), *files]
        return [os.path.join(self.build, "bench/bench_il"), mode, *files]

    def row(self, mode, version, results):
        text, aim = MODES[mode]
        ns = [r["ns"] for r in results]
        rates = sorted(1e9 / x for x in ns)
        met = "" if not aim else "yes" if rates[0] >= aim else "NO" if rates[-1] < aim else "unclear"
        return [text, version, f"{results[0]['bodies']:.0f}",
                f"{statistics.median(ns):.0f} ({min(ns):.0f}-{max(ns):.0f})",
                f"{statistics.median(rates):,.0f}", f">= {aim:,.0f}" if aim else "", met, str(len(ns))]

    def measure(self):
        rows = []
        cecil = os.path.exists(os.path.join(self.build, "tools/cecil/cecil.dll"))
        for version in self.runtimes:
            self.note(f"{version}: the IL library")
            modes = [m for m in MODES if m != "cecil" or (cecil and version == self.runtimes[-1])]
            files = sorted(glob.glob(os.path.join(self.build, "runtimes", version, "*.dll")))
            results = in_turns(self.rounds, {m: (self.command(m, files), self.env) for m in modes})
            rows += [self.row(m, version, results[m]) for m in modes]
        rows.sort(key=lambda row: [text for text, _ in MODES.values()].index(row[0]))
        return [("Bodies of the base class libraries", HEAD, rows)]
