# SPDX-License-Identifier: MIT
"""web.py - what the tools cost a busy web service: requests a second and CPU a request, beside no profiler.

The service (harness/managed/web) and the load (wrk) share the machine's processors. Each variant gets a
process of its own, is warmed up until the runtime has compiled its hot methods, and is measured with each
number of connections. The variants take turns.
"""
import os
import re
import shutil
import statistics
import subprocess
import tempfile

from measure import median_range

CONNECTIONS = (16, 256)
TICKS = os.sysconf("SC_CLK_TCK")
TRACE = "dotnet-trace"
# name: (SXSPROF_TOOLS, aim for the ratio of requests a second). "": the tools that are always on.
VARIANTS = {
    "library alone": ("", 0.995),
    "sample:cpu=199": ("sample:cpu=199", 0.99),
    "sample:cpu=997": ("sample:cpu=997", 0.97),
    "sample:wall=199": ("sample:wall=199", None),
    "calls": ("calls", None),
    "exceptions": ("exceptions", None),
    "events": ("events", None),
}
HEAD = ["profiler", "connections", "requests a second", "ratio", "aim", "met",
        "CPU a request, us", "ratio", "n"]


def span(values, digits=3):
    lo, hi = median_range(values)
    return f"{statistics.median(values):.{digits}f} ({lo:.{digits}f} to {hi:.{digits}f})"


def verdict(ratios, aim):
    if aim is None:
        return "", ""
    lo, hi = median_range(ratios)
    if len(ratios) < 6:
        return f">= {aim}", "unclear"
    return f">= {aim}", "yes" if lo >= aim else "NO" if hi < aim else "unclear"


def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def child_of(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as f:
        return int(f.read().split()[0])


class Service:
    """One run of the service. usage: with Service(command, env, traced) as s: s.load(16, 4)"""

    def __init__(self, command, env, traced):
        self.process = subprocess.Popen(command, env=env, text=True, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.url = None
        for line in self.process.stdout:
            said = re.search(r"listening on (\S+)", line)
            if said:
                self.url = said[1] + "/order"
                break
        if not self.url:
            raise RuntimeError(f"the web service did not start: {' '.join(command)}")
        self.pid = child_of(self.process.pid) if traced else self.process.pid

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.write("\n") # a line ends the service
        self.process.stdin.close()
        self.process.stdout.read()
        self.process.wait()

    def load(self, connections, seconds):
        """Returns (requests a second, CPU seconds of the service a request)."""
        before = cpu_seconds(self.pid)
        text = subprocess.run(["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", self.url],
                              check=True, capture_output=True, text=True).stdout
        used = cpu_seconds(self.pid) - before
        served = int(re.search(r"(\d+) requests in", text)[1])
        bad = re.search(r"Non-2xx or 3xx responses: (\d+)|Socket errors: (.*)", text)
        if bad:
            raise RuntimeError(f"the web service answered wrongly: {bad[0]}")
        return float(re.search(r"Requests/sec:\s+([\d.]+)", text)[1]), used / served


class Web:
    """usage: Web(variants, quick, note).measure() -> [(title, head, rows)]"""

    def __init__(self, variants, quick, note):
        self.variants, self.quick, self.note = variants, quick, note
        self.build = variants.build
        self.app = os.path.join(self.build, "managed/web/web.dll")
        self.trace = os.path.join(self.build, "tools", TRACE)
        self.folder = tempfile.mkdtemp(prefix="sxsprof-bench-")

    def command(self, name):
        """(command, environment) of the service under the variant @name."""
        command = ["dotnet", self.app, "600"]
        if name == TRACE:
            output = os.path.join(self.folder, "trace.nettrace")
            return [self.trace, "collect", "--show-child-io", "-o", output, "--"] + command, \
                self.variants.env["none"]
        if name not in VARIANTS:
            return command, self.variants.env["none"]
        env = dict(self.variants.env["preload"], SXSPROF_OUT=os.path.join(self.folder, "session"))
        if VARIANTS[name][0]:
            env["SXSPROF_TOOLS"] = VARIANTS[name][0]
        return command, env

    def run(self, name):
        """{connections: (requests a second, CPU a request)} of one process under @name."""
        shutil.rmtree(os.path.join(self.folder, "session"), ignore_errors=True)
        warm, seconds = (1, 1) if self.quick else (8, 5)
        command, env = self.command(name)
        with Service(command, env, name == TRACE) as service:
            service.load(CONNECTIONS[0], warm)
            return {n: service.load(n, seconds) for n in CONNECTIONS}

    def rows(self, runs):
        rows = []
        for name in list(runs)[1:]:
            for n in CONNECTIONS:
                pairs = [(a[n], b[n]) for a, b in zip(runs["none"], runs[name])]
                rate = [b[0] / a[0] for a, b in pairs]
                cost = [b[1] / a[1] for a, b in pairs]
                aim, met = verdict(rate, VARIANTS.get(name, ("", None))[1])
                rows.append([
                    name, str(n),
                    " -> ".join(f"{statistics.median(p[i][0] for p in pairs):.0f}" for i in (0, 1)),
                    span(rate), aim, met,
                    " -> ".join(f"{statistics.median(p[i][1] for p in pairs) * 1e6:.1f}"
                                for i in (0, 1)),
                    span(cost), str(len(pairs))])
        return rows

    def measure(self):
        if not shutil.which("wrk") or not os.path.exists(self.app):
            self.note("web: left out: needs wrk and the .NET SDK")
            return [("A busy web service: left out, it needs wrk and the .NET SDK", HEAD, [])]
        names = ["none", *VARIANTS] + ([TRACE] if os.path.exists(self.trace) else [])
        runs = {name: [] for name in names}
        try:
            for i in range(2 if self.quick else 7): # the first round is thrown away
                for name in names if i % 2 else names[::-1]:
                    self.note(f"web: round {i}, {name}")
                    got = self.run(name)
                    if i:
                        runs[name].append(got)
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)
        return [("A busy web service, ASP.NET Core of the SDK", HEAD, self.rows(runs))]
