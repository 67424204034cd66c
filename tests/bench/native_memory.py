# SPDX-License-Identifier: MIT
"""native_memory.py - what the tool native costs programs that allocate native memory, or managed memory."""
import os
import shutil
import tempfile

from measure import Comparison, in_turns

# Work of the apps blocks and memory: the value that is compared, its unit, and the aim, a ratio.
WORK = (("blocks", "xml=300000", "xml", "XML documents, parsed into trees by libxml2: ns an element", 1.03),
        ("blocks", "trees=20000000", "trees", "trees of small blocks, built, read and freed: ns a block", None),
        ("blocks", "pairs=20000000", "pairs", "malloc() and free() in turns, and nothing else: ns a pair", None),
        ("memory", "words=5000", "cpu_ms", "a managed program that allocates: CPU, ms", 1.03))


class NativeMemory:
    def __init__(self, variants, runtimes, quick, note):
        self.variants, self.runtimes, self.quick, self.note = variants, runtimes, quick, note
        self.folder = tempfile.mkdtemp(prefix="sxsprof-bench-")

    def environments(self):
        """none; idle: only preloaded; preload: profiled without the tool; native: with the tool."""
        env = self.variants.env
        allocator = os.path.join(self.variants.build, "libsxsprof-malloc.so")
        native = dict(env["preload"], SXSPROF_TOOLS="native", SXSPROF_OUT=self.folder)
        native["LD_PRELOAD"] += ":" + allocator
        return {"none": env["none"], "idle": dict(env["none"], LD_PRELOAD=allocator),
                "preload": env["preload"], "native": native}

    def measure(self):
        rows = []
        try:
            for version in self.runtimes[-1:]:
                for app, words, key, text, aim in WORK:
                    self.note(f"native memory: {version}: {words}")
                    command = [os.path.join(self.variants.build, "runsxs"), "--bridge", version, app, words]
                    got = in_turns(2 if self.quick else 21,
                                   {name: (command, env) for name, env in self.environments().items()})
                    for name, label in (("idle", "preloaded, no profiler"), ("preload", "profiled, no tool"),
                                        ("native", "the tool native")):
                        c = Comparison(got["none"], got[name], key)
                        lo, hi = (1 + end / c.a for end in c.cost_range)
                        met = "" if aim is None or name != "native" else \
                            "yes" if hi < aim else "NO" if lo >= aim else "unclear"
                        rows.append([text, version, label, f"{c.a:.2f}", f"{c.b:.2f}",
                                     f"{1 + c.cost / c.a:.3f} ({lo:.3f} to {hi:.3f})",
                                     f"< {aim}" if met else "", met])
        finally:
            shutil.rmtree(self.folder)
        return [("Native memory: with and without", ["work", "runtime", "with", "without", "with it", "ratio",
                                                     "aim", "met"], rows)]
