# SPDX-License-Identifier: MIT
"""heap.py - measures heap snapshots: how long they stop a program, and how much memory they take meanwhile.

The app memory keeps objects, induces a collection, and measures how long that takes. Then it watches how long it stands
still while a snapshot is taken.
"""
import os
import re
import shutil
import statistics
import subprocess
import tempfile
import time

HEAD = ["asked by", "runtime", "objects", "a collection alone, ms", "pause, ms", "ratio", "million objects a second",
        "aim", "met", "memory beyond the file, bytes an object", "aim", "met"]
AIM_RATE, AIM_MEMORY = 5.0, 16.0
DUMP = "Microsoft-Windows-DotNETRuntime:0x1980001:5"  # what tools ask a runtime for that read its heap from outside


def memory_of(pid):
    """Returns (resident now, its peak), in bytes."""
    with open(f"/proc/{pid}/status", encoding="ascii") as status:
        found = dict(re.findall(r"^(VmRSS|VmHWM):\s+(\d+) kB", status.read(), re.M))
    return int(found["VmRSS"]) << 10, int(found["VmHWM"]) << 10


class Heap:
    """usage: Heap(variants, runtimes, quick, note).measure() -> [(title, head, rows)]"""

    def __init__(self, variants, runtimes, quick, note):
        self.variants, self.runtimes, self.quick, self.note = variants, runtimes, quick, note
        self.build = os.path.abspath(variants.build)
        self.trace = os.path.join(self.build, "tools/dotnet-trace")
        self.objects = 10 ** 6 if quick else 10 ** 7
        self.folder = tempfile.mkdtemp(prefix="sxsprof-bench-")

    def by_sxsprof(self, process):
        subprocess.run([os.path.join(self.build, "sxsprof"), "heap", "-o", "/dev/null", str(process.pid)], check=True,
                       stderr=subprocess.DEVNULL)

    def by_trace(self, process):
        subprocess.run([self.trace, "collect", "-p", str(process.pid), "--providers", DUMP, "--duration", "00:00:10",
                        "-o", os.path.join(self.folder, "t.nettrace")], check=True, stdout=subprocess.DEVNULL)

    def run(self, version, ask, env):
        """Returns ms of a collection, ms of the snapshot's pauses, bytes of memory that it took meanwhile."""
        ready, until = (os.path.join(self.folder, name) for name in ("ready", "until"))
        for path in (ready, until):
            if os.path.exists(path):
                os.remove(path)
        words = f"keep:small={self.objects} collect=2 timed=2 ready={ready} watch={until}"
        with subprocess.Popen([os.path.join(self.build, "runsxs"), version, "memory", words], env=env,
                              stdout=subprocess.PIPE, text=True) as process:
            while not os.path.exists(ready) and process.poll() is None:
                time.sleep(0.01)
            with open(f"/proc/{process.pid}/clear_refs", "w", encoding="ascii") as peak:
                peak.write("5")
            before = memory_of(process.pid)[0]
            ask(process)
            beyond = memory_of(process.pid)[1] - before
            with open(until, "w", encoding="ascii"):
                pass
            said = dict(re.findall(r"^bench: (\w+) ([\d.]+)$", process.communicate()[0], re.M))
        return float(said["alone"]), float(said["pause"]), beyond

    def row(self, name, version, runs, ours):
        alone, pause = (statistics.median(run[i] for run in runs) for i in (0, 1))
        rate = self.objects / 1e3 / pause
        memory = statistics.median(run[2] for run in runs) / self.objects
        row = [name, version, f"{self.objects:,}", f"{alone:.0f}", f"{pause:.0f}", f"{pause / alone:.1f}", f"{rate:.1f}"]
        if not ours:
            return row + ["", "", f"{memory:.1f}", "", ""]
        return row + [f">= {AIM_RATE:.0f}", "yes" if rate >= AIM_RATE else "NO", f"{memory:.1f}",
                      f"<= {AIM_MEMORY:.0f}", "yes" if memory <= AIM_MEMORY else "NO"]

    def measure(self):
        env = self.variants.env
        tool = dict(env["preload"], SXSPROF_TOOLS="heap", SXSPROF_OUT=os.path.join(self.folder, "session"))
        asked = [("`sxsprof heap`", self.by_sxsprof, tool, True)]
        if os.access(self.trace, os.X_OK):
            asked.append(("dotnet-trace, keywords of a heap dump", self.by_trace, env["none"], False))
        rows = []
        try:
            for version in self.runtimes:
                runs = {name: [] for name, _, _, _ in asked}
                for i in range(1 if self.quick else 5):
                    for name, ask, variables, _ in asked if i % 2 else reversed(asked):
                        self.note(f"heap: {version}: {name}")
                        runs[name].append(self.run(version, ask, variables))
                rows += [self.row(name, version, runs[name], ours) for name, _, _, ours in asked]
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)
        return [("Heap snapshots", HEAD, rows)]
