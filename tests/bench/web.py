# SPDX-License-Identifier: MIT
"""web.py - measures the costs of the tools in a busy web service: requests a second and CPU time a request.

The service (harness/managed/web) and the load generator (wrk) share the processors of the machine. A round
starts one process for each variant. All processes of a round exist at the same time and are warmed up until
the runtime has compiled its hot methods. Then the variants are loaded in turns of about a second, in an order
that is reversed each time, so that a slow minute of the machine affects all of them. Each round has new
processes, because processes of the same program differ in speed.
"""
import contextlib
import os
import re
import shutil
import statistics
import subprocess
import tempfile
import time

from measure import median_range

CONNECTIONS = (16, 256)
ROUNDS, SWEEPS, SECONDS, WARM = 8, 5, 1, 6 # wrk takes whole seconds only
TRACE = "dotnet-trace"
# name: (SXSPROF_TOOLS, lower limit of the ratio of requests a second). "": only the tools that are always on.
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
    return time.clock_gettime((~pid << 3) | 2) # the clock of clock_getcpuclockid()


def child_of(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as f:
        return int(f.read().split()[0])


class Service:
    """A running service. usage: with Service(command, env, traced) as s: s.load(16, 4)"""

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
    TITLE = "A busy web service, ASP.NET Core of the SDK"
    KINDS = VARIANTS
    TURN = SECONDS


    def __init__(self, variants, quick, note):
        self.variants, self.quick, self.note = variants, quick, note
        self.build = variants.build
        self.app = os.path.join(self.build, "managed/web/web.dll")
        self.trace = os.path.join(self.build, "tools", TRACE)

    def command(self, name, folder):
        """Returns (command, environment) of the service under the variant @name, which writes to @folder."""
        command = ["dotnet", self.app, "600"]
        if name == TRACE:
            output = os.path.join(folder, "trace.nettrace")
            return [self.trace, "collect", "--show-child-io", "-o", output, "--"] + command, \
                self.variants.env["none"]
        if name not in self.KINDS:
            return command, self.variants.env["none"]
        env = dict(self.variants.env["preload"], SXSPROF_OUT=os.path.join(folder, re.sub(r"\W", "-", name)))
        return command, dict(env, **self.settings(name))

    def settings(self, name):
        """Returns the variables of a variant."""
        tools = self.KINDS[name][0]
        return {"SXSPROF_TOOLS": tools} if tools else {}

    def round(self, i, names):
        """Returns {name: {connections: [(requests a second, CPU a request)]}}: turns of new processes."""
        sweeps, seconds, warm = (1, 1, 1) if self.quick else (SWEEPS, self.TURN, WARM)
        got = {name: {n: [] for n in CONNECTIONS} for name in names}
        with tempfile.TemporaryDirectory(prefix="sxsprof-bench-") as folder, \
                contextlib.ExitStack() as stack:
            services = {}
            for name in names:
                self.note(f"web: round {i}, {name} warms up")
                command, env = self.command(name, folder)
                services[name] = stack.enter_context(Service(command, env, name == TRACE))
                services[name].load(CONNECTIONS[0], warm)
            for n in CONNECTIONS:
                for sweep in range(sweeps):
                    self.note(f"web: round {i}, {n} connections, sweep {sweep}")
                    for name in names if sweep % 2 else names[::-1]:
                        got[name][n].append(services[name].load(n, seconds))
        return got

    @staticmethod
    def paired(rounds, name, connections, which):
        """Returns the ratio to "none" of each round (median of its sweeps), and the medians of both."""
        def side(turns, who):
            return [turn[which] for turn in turns[who][connections]]
        ratios = [statistics.median(b / a for a, b in zip(side(r, "none"), side(r, name)))
                  for r in rounds]
        return ratios, [statistics.median(v for r in rounds for v in side(r, who))
                        for who in ("none", name)]

    def rows(self, names, rounds):
        rows = []
        for name in names:
            for n in CONNECTIONS:
                rate, per_second = self.paired(rounds, name, n, 0)
                cost, cpu = self.paired(rounds, name, n, 1)
                aim, met = verdict(rate, self.KINDS.get(name, ("", None))[1])
                rows.append([
                    name, str(n), " -> ".join(f"{v:.0f}" for v in per_second), span(rate), aim, met,
                    " -> ".join(f"{v * 1e6:.1f}" for v in cpu), span(cost), str(len(rounds))])
        return rows

    def measure(self):
        if not shutil.which("wrk") or not os.path.exists(self.app):
            self.note("web: left out: needs wrk and the .NET SDK")
            return [(f"{self.TITLE}: left out, it needs wrk and the .NET SDK", HEAD, [])]
        names = ["none", *self.KINDS] + ([TRACE] if os.path.exists(self.trace) else [])
        # Every second round starts the processes in reverse order.
        rounds = [self.round(i, names if i % 2 else names[::-1])
                  for i in range(1 if self.quick else ROUNDS)]
        return [(self.TITLE, HEAD, self.rows(names[1:], rounds))]
