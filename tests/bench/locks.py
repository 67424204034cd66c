# SPDX-License-Identifier: MIT
"""locks.py - what the tools locks and wait cost programs whose locks are not contended for."""
import os
import shutil
import tempfile

from measure import Comparison, in_turns

# Words of the app contend, and the value that is compared.
WORK = (("none=1 locks=60000", "locked", "a lock that no other thread wants, entered and left: ns of CPU time"),
        ("none=1 items=1500", "items", "items of the thread pool: ns of CPU time an item"))
AIM = 1.01
TOOLS = (("locks:pool=off", AIM), ("locks", AIM), ("wait", None))


class Locks:
    def __init__(self, variants, runtimes, quick, note):
        self.variants, self.runtimes, self.quick, self.note = variants, runtimes, quick, note
        self.folder = tempfile.mkdtemp(prefix="sxsprof-bench-")

    def environments(self):
        env = self.variants.env
        made = {"none": env["none"], "preload": env["preload"]}
        for tool, _ in TOOLS:
            made[tool] = dict(env["preload"], SXSPROF_TOOLS=tool, SXSPROF_OUT=self.folder)
        return made

    def measure(self):
        rows = []
        try:
            for version in self.runtimes:
                for words, key, text in WORK:
                    self.note(f"locks: {version}: {words}")
                    command = [os.path.join(self.variants.build, "runsxs"), version, "contend", words]
                    got = in_turns(2 if self.quick else 15,
                                   {name: (command, env) for name, env in self.environments().items()})
                    for name, aim in (("preload", None), *TOOLS):
                        c = Comparison(got["none"], got[name], key)
                        lo, hi = (1 + end / c.a for end in c.cost_range)
                        met = "" if aim is None else "yes" if hi < aim else "NO" if lo >= aim else "unclear"
                        rows.append([text, version, "no tool" if name == "preload" else name, f"{c.a:.2f}",
                                     f"{c.b:.2f}", f"{1 + c.cost / c.a:.3f} ({lo:.3f} to {hi:.3f})",
                                     f"< {aim}" if aim else "", met])
        finally:
            shutil.rmtree(self.folder)
        return [("Locks without contention: with and without", ["work", "runtime", "with", "without", "with it",
                                                                "ratio", "aim", "met"], rows)]
