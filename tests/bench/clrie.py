# SPDX-License-Identifier: MIT
"""clrie.py - what the engine for plug-ins of CLRIE costs: for each compiled method, at the start, in memory.

CLRIE_LIBRARY=PATH measures another library with CLRIE's interfaces in the same way.
"""
import os
import shutil
import statistics
import tempfile

from measure import Comparison, in_turns, run

CLSID = "{324F817A-7420-4E6D-B3C1-143FBED6D855}"
CONFIG = """<InstrumentationEngineConfiguration><InstrumentationMethod><Name>cost</Name>
<Description>the plug-in of the benchmark</Description><Module>libcost.so</Module>
<ClassGuid>{5E5C0015-0000-4000-8000-00000000C057}</ClassGuid></InstrumentationMethod>
</InstrumentationEngineConfiguration>
"""
METHODS, MANY = 5000, 20000
KINDS = {"none": "no plug-in", "decline": "one that declines", "insert": "one that inserts at entry"}
AIMS = {"none": 1, "decline": 2, "insert": 8}


class Clrie:
    def __init__(self, variants, runtimes, quick, note):
        self.variants, self.runtimes, self.quick, self.note = variants, runtimes, quick, note
        self.build = variants.build
        self.engines = {"this library": variants.library}
        if other := os.environ.get("CLRIE_LIBRARY"):
            self.engines["CLRIE"] = os.path.abspath(other)
        self.folder = tempfile.mkdtemp(prefix="sxsprof-bench-")
        shutil.copy(os.path.join(self.build, "clrie/libcost.so"), self.folder)
        with open(os.path.join(self.folder, "cost.xml"), "w", encoding="utf-8") as f:
            f.write(CONFIG)

    def rounds(self, n):
        return 2 if self.quick else n

    def env(self, library, kind):
        env = dict(self.variants.env["none"], CORECLR_ENABLE_PROFILING="1", CORECLR_PROFILER=CLSID,
                   CORECLR_PROFILER_PATH=library)
        env["PLUG_OUT"] = os.devnull
        if kind != "none":
            env.update(COST=kind, MicrosoftInstrumentationEngine_ConfigPath64_bench=os.path.join(
                self.folder, "cost.xml"))
        return env

    def commands(self, version, work):
        """Returns {(engine, kind): (argv, env)} with all kinds of all engines, and "none"."""
        app = [os.path.join(self.build, "runsxs"), version, "bench", work]
        runs = {"none": (app, self.variants.env["none"])}
        for engine, library in self.engines.items():
            for kind in KINDS:
                runs[engine, kind] = (app, self.env(library, kind))
        return runs

    @staticmethod
    def cost(without, with_, key, scale, aim=None):
        c = Comparison(without, with_, key)
        lo, hi = (end / scale for end in c.cost_range)
        met = "" if aim is None else "; met" if hi < aim else "; NOT met" if lo >= aim else "; unclear"
        return f"{c.cost / scale:+.2f} ({lo:+.2f} to {hi:+.2f}){met}"

    def row(self, got, key, scale, kind, aim=None):
        """The cost of @kind for each engine, and how many times more the second one costs."""
        cells = [self.cost(got["none"], got[engine, kind], key, scale,
                           aim if engine == "this library" else None) for engine in self.engines]
        if len(cells) == 1:
            return cells
        ours, other = (Comparison(got["none"], got[engine, kind], key).cost for engine in self.engines)
        return cells + [f"{other / ours:.1f}" if ours > 0 else ""]

    def columns(self):
        names = list(self.engines)
        return names + (["ratio"] if len(names) > 1 else [])

    def methods(self):
        rows = []
        for version in self.runtimes:
            for size in (4, 40):
                self.note(f"clrie: methods of {size} instructions, {version}")
                runs = self.commands(version, f"bodies {METHODS} {size}")
                app = runs["none"][0]
                runs["counted"] = (app[:-1] + [app[-1] + " counted"], runs["none"][1])
                if size == 4:
                    runs["hand"] = (app, dict(
                        self.env(os.path.join(self.build, "bench/libbare.so"), "none"), BARE_INSERT="1"))
                got = in_turns(self.rounds(7), runs)
                none = statistics.median(r["ns"] for r in got["none"]) / 1e3
                for kind, text in KINDS.items():
                    rows.append([str(size), text, version, f"{none:.2f}"] +
                                self.row(got, "ns", 1e3, kind, AIMS[kind]))
                empty = [""] * (len(self.columns()) - 1)
                rows.append([str(size), "the same code in the method itself", version, f"{none:.2f}",
                             self.cost(got["none"], got["counted"], "ns", 1e3)] + empty)
                if "hand" in got:
                    rows.append([str(size), "a profiler written for this insertion alone", version,
                                 f"{none:.2f}", self.cost(got["none"], got["hand"], "ns", 1e3)] + empty)
        return ("One compiled method, us more than without a profiler (aims: 1, 2 and 8)",
                ["instructions", "plug-in", "runtime", "without, us"] + self.columns(), rows)

    def starts(self):
        rows = []
        for version in self.runtimes:
            self.note(f"clrie: start, {version}")
            got = in_turns(self.rounds(15), self.commands(version, "start"))
            for key, text, scale, aim in (("wall_ms", "wall, ms", 1, 8), ("cpu_ms", "CPU, ms", 1, 8),
                                          ("rss_kib", "resident, MB", 1024, None)):
                for kind in ("none", "decline"):
                    rows.append([text, KINDS[kind], version] + self.row(got, key, scale, kind, aim))
        return ("The start of a program that ends at once, more than without a profiler (aim: 8 ms)",
                ["measured", "plug-in", "runtime"] + self.columns(), rows)

    def memory(self):
        """The difference of two numbers of methods, so that what the start takes does not count."""
        rows = []
        for version in self.runtimes:
            self.note(f"clrie: memory, {version}")
            few, many = ({k: v[0] for k, v in in_turns(1, self.commands(version, f"bodies {n} 4")).items()}
                         for n in (METHODS, METHODS + MANY))
            per = {k: (many[k]["rss_kib"] - few[k]["rss_kib"]) * 1024 / MANY for k in many}
            for kind, text in KINDS.items():
                rows.append([text, version, f"{per['none']:.0f}"] +
                            [f"{per[engine, kind] - per['none']:+.0f}" for engine in self.engines])
        return (f"Resident memory for each of {MANY} compiled methods, bytes more than without a profiler",
                ["plug-in", "runtime", "without"] + list(self.engines), rows)

    def graphs(self):
        values = {}
        program = [os.path.join(self.build, "bench/bench_graph")]
        for _ in range(self.rounds(5)):
            for name, ns in run(program, self.variants.env["none"]).items():
                if name.startswith("graph_"):
                    values.setdefault(name, []).append(ns)
        rows = [[name[6:].replace("_", " "), f"{statistics.median(ns):.0f} ({min(ns):.0f}-{max(ns):.0f})",
                 f"{1e3 / statistics.median(ns):.2f}"] for name, ns in values.items()]
        return ("Operations on graphs through the interfaces",
                ["operation, instructions of the graph", "ns", "millions a second"], rows)

    def measure(self):
        try:
            return [self.methods(), self.starts(), self.memory(), self.graphs()]
        finally:
            shutil.rmtree(self.folder)
