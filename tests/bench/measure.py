# SPDX-License-Identifier: MIT
"""measure.py - runs commands in turns and compares the values that they print, pair by pair."""
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

CLSID = "{6B8F5B6E-3C0D-4E0B-9A57-5C1D0F2E7A31}"
CLEARED = ("CORECLR_", "COR_", "SXSPROF_", "LD_PRELOAD", "DOTNET_", "COMPlus_", "FAKECLR_")


def newest_runtime():
    """Returns the version of the last runtime in setup/versions.tsv."""
    with open("setup/versions.tsv", encoding="utf-8") as lines:
        rows = [line.rstrip("\n").split("\t") for line in lines]
    return [row[1] for row in rows if row[0] == "runtime"][-1]


class Variants:
    """The environments a command runs in. Names: none, bare, off, router, preload."""

    def __init__(self, build):
        self.build = build
        self.library = os.path.join(build, "libsxsprof.so")
        clean = {k: v for k, v in os.environ.items() if not k.startswith(CLEARED)}
        self.env = {"none": clean}
        self.env["bare"] = self._profiled(os.path.join(build, "bench/libbare.so"))
        self.env["router"] = self._profiled(self.library)
        self.env["off"] = dict(self.env["router"], SXSPROF_SIGNALS="off")
        self.env["preload"] = dict(self.env["router"],
                                   LD_PRELOAD=os.path.join(build, "libsxsprof-preload.so"))

    def _profiled(self, library):
        return dict(self.env["none"], CORECLR_ENABLE_PROFILING="1", CORECLR_PROFILER=CLSID,
                    CORECLR_PROFILER_PATH=library)


def run(command, env):
    """Runs a command; returns its "bench: NAME VALUE" lines, wall_ms and cpu_ms."""
    with tempfile.TemporaryFile() as out:
        start = time.perf_counter()
        pid = os.posix_spawnp(command[0], command, env,
                              file_actions=[(os.POSIX_SPAWN_DUP2, out.fileno(), 1)])
        _, status, usage = os.wait4(pid, 0)
        wall = time.perf_counter() - start
        out.seek(0)
        text = out.read().decode()
    if status != 0:
        sys.exit(f"bench: {' '.join(command)} ended with status {status}:\n{text}")
    values = {m[1]: float(m[2]) for m in re.finditer(r"^bench: (\w+) ([\d.]+)$", text, re.M)}
    values["wall_ms"] = wall * 1e3
    values["peak_kb"] = usage.ru_maxrss
    values["cpu_ms"] = (usage.ru_utime + usage.ru_stime) * 1e3
    return values


def in_turns(rounds, commands):
    """Runs commands in rounds. commands: {name: (argv, env)}. Returns {name: [values of each run]}.

    A round runs each command once. The results of the first round are dropped. Every second round is
    reversed, so that no command always follows the same other command."""
    results = {name: [] for name in commands}
    for i in range(rounds + 1):
        order = list(commands.items())
        for name, (argv, env) in order if i % 2 else reversed(order):
            got = run(argv, env)
            if i:
                results[name].append(got)
    return results


def median_range(values):
    """Returns two of the values: the 95 % confidence interval of the median (binomial)."""
    n, tail, k = len(values), 0.0, 0
    while (tail := tail + math.comb(n, k) / 2 ** n) < 0.025:
        k += 1
    ordered = sorted(values)
    k = max(k - 1, 0)
    return ordered[k], ordered[n - 1 - k]


class Comparison:
    """The same value of two commands of one in_turns(): medians, ranges, paired difference."""

    def __init__(self, without, with_, key):
        a = [r[key] for r in without]
        b = [r[key] for r in with_]
        self.n = len(a)
        self.a, self.b = statistics.median(a), statistics.median(b)
        self.a_range, self.b_range = (min(a), max(a)), (min(b), max(b))
        costs = [y - x for x, y in zip(a, b)]
        self.cost = statistics.median(costs)
        self.cost_range = median_range(costs)
        self.ratio = self.b / self.a if self.a else float("nan")


def machine():
    """Returns (processor and number of CPUs, kernel)."""
    with open("/proc/cpuinfo", encoding="ascii") as f:
        model = re.search(r"^model name\s*: (.*)$", f.read(), re.M)
    return f"{model[1] if model else 'unknown'}, {os.cpu_count()} CPUs", os.uname().release


def commit():
    try:
        return subprocess.run(["git", "describe", "--always", "--dirty", "--exclude=*"], capture_output=True,
                              text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
