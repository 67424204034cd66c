# SPDX-License-Identifier: MIT
"""sampling.py - measures the costs of the tool "sample": of its walkers, of samples and of whole programs."""
import glob
import os
import shutil
import statistics
import struct
import subprocess
import tempfile

from measure import median_range, in_turns, newest_runtime

RUNTIME = newest_runtime()
APPS = {"compute": 5000, "allocate": 12000}  # units of work, about two seconds
DEPTHS = (10, 30, 100, 500)
OPTIONS = ("cpu=99", "cpu=199", "cpu=997", "wall=199")
AIMS = {"cpu=199": 1, "cpu=997": 3}  # % of user CPU
TRACE = "dotnet-trace"
# Offsets of the counts in struct sxs_samples_header (session/format/samples.h).
N_SAMPLES, HANDLER_NS = 64, 208

WALK_HEAD = ["stack", "frames", "walker", "ns a frame", "aim", "us a sample, signal included",
             "aim", "frames recorded"]
DEEP_HEAD = ["managed frames", "walker", "samples", "us in the handler, each"]
APP_HEAD = ["app", "profiler", "user CPU without, ms", "with", "user CPU, %", "aim", "met",
            "user and kernel CPU, %", "wall, %", "samples", "us in the handler, each"]
CLOCK_HEAD = ["clock", "rate reached, Hz", "CPU a signal, us", "at that rate, %"]
START_HEAD = ["hello, with", "CPU, ms: least", "median", "more than without, median, ms", "aim",
              "wall, ms: least", "median"]
START_AIM = 10  # ms of CPU that sampling may add to a program that ends at once
IDLE_HEAD = ["idle process", "CPU, ms a second"]


def span(values, digits=2):
    """Returns the median and its confidence interval as text."""
    lo, hi = median_range(values)
    return f"{statistics.median(values):+.{digits}f} ({lo:+.{digits}f} to {hi:+.{digits}f})"


def verdict(values, aim):
    lo, hi = median_range(values)
    if len(values) < 6:
        return "unclear"  # too few for a range
    return "yes" if hi < aim else "NO" if lo >= aim else "unclear"


def percents(without, with_, key):
    return [100 * (b[key] / a[key] - 1) for a, b in zip(without, with_)]


class Sampling:
    """usage: Sampling(variants, quick).measure() -> [(title, head, rows)]"""

    def __init__(self, variants, quick, note):
        self.variants, self.quick, self.note = variants, quick, note
        self.build = variants.build
        self.folder = tempfile.mkdtemp(prefix="sxsprof-bench-")
        self.trace = os.path.join(self.build, "tools", TRACE)
        self.has_runtime = os.path.exists(
            os.path.join(self.build, "runtimes", RUNTIME, "libcoreclr.so"))

    def rounds(self, n):
        return 1 if self.quick else n

    def sessions(self, options):
        return os.path.join(self.folder, options)

    def sampled(self, work, options, app="bench"):
        """Returns (command, environment) of @app @work under sample:@options; None: without a profiler."""
        command = [os.path.join(self.build, "runsxs"), RUNTIME, app, work]
        out = self.sessions(options or "none")
        env = dict(self.variants.env["preload" if options else "none"], SXSPROF_OUT=out)
        if options:
            env["SXSPROF_TOOLS"] = f"sample:{options}"
        return ["sh", "-c", 'rm -rf "$SXSPROF_OUT"; exec "$@"', "sh"] + command, env

    def traced(self, app):
        """Returns (command, environment) of dotnet-trace, default profile, with the app as its child."""
        command, env = self.sampled(app, None)
        return ["timeout", "-k", "5", "300", self.trace, "collect", "--show-child-io", "-o",
                os.path.join(self.folder, "trace.nettrace"), "--"] + command[4:], env

    def header(self, options):
        """Returns (samples, us in the handler for each sample) of the last run with @options."""
        for path in glob.glob(os.path.join(self.sessions(options), "*/samples")):
            with open(path, "rb") as f:
                head = f.read(HANDLER_NS + 8)
            n, ns = (struct.unpack_from("<Q", head, at)[0] for at in (N_SAMPLES, HANDLER_NS))
            if n:
                return str(n), f"{ns / n / 1e3:.2f}"
        return "0", ""

    def offers(self, walker):
        command = [os.path.join(self.build, "sxsprof"), "run", "--quiet", "--tool",
                   f"sample:cpu=199,walker={walker}", "--", "true"]
        return subprocess.run(command, stderr=subprocess.DEVNULL, check=False).returncode == 0

    # ---- one method for each table -----------------------------------------------------------------

    def walkers(self):
        out = self.sessions("walk")
        env = dict(self.variants.env["none"], SXSPROF_SIGNALS="off", SXSPROF_OUT=out)
        program = os.path.join(self.build, "bench/bench_walk")
        script = 'rm -rf "$SXSPROF_OUT"; mkdir -p "$SXSPROF_OUT"; exec "$@" "$SXSPROF_OUT"'
        runs = in_turns(self.rounds(15), {"walk": (["sh", "-c", script, "sh", program], env)})
        got = {key: statistics.median(r[key] for r in runs["walk"]) for key in runs["walk"][0]}
        rows = []
        for stack in [f"{kind}_{depth}" for kind in ("rbp", "tables") for depth in DEPTHS] + [
                "mixed_64"]:
            for walker in ("fast", "unwind", "backtrace"):
                key = f"{stack}_{walker}_"
                ns, us = got[key + "ns"], got.get(key + "us")
                fast, rbp = walker == "fast", stack.startswith("rbp")
                rows.append([
                    stack.replace("_", ", "), f"{got[key + 'frames']:.0f}", walker, f"{ns:.1f}",
                    "" if not (fast and rbp) else f"<= 5: {'yes' if ns <= 5 else 'NO'}",
                    "" if us is None else f"{us:.2f}",
                    "" if not (fast and stack == "mixed_64") else
                    f"<= 10: {'yes' if us <= 10 else 'NO'}",
                    "" if us is None else f"{got[key + 'recorded']:.0f}"])
        return rows

    def deep(self):
        """Measures walks of managed frames in a real runtime, also by walkers that need one."""
        rows = []
        for walker in ("fast", "snapshot"):
            if not self.offers(walker):
                continue
            for depth in DEPTHS[:1] if self.quick else DEPTHS:
                options = f"cpu=199,walker={walker}"
                in_turns(1, {"deep": self.sampled(f"deep {depth}", options)})
                rows.append([str(depth), walker, *self.header(options)])
        return rows

    def clocks(self):
        rows = []
        program = os.path.join(self.build, "bench/bench_clock")
        for hz in (199, 997):
            runs = in_turns(self.rounds(3), {"clock": ([program, str(hz)],
                                                       self.variants.env["none"])})["clock"]
            us = statistics.median(r["clock_us"] for r in runs)
            rate = statistics.median(r["clock_hz"] for r in runs)
            rows.append([f"cpu={hz}", f"{rate:.0f}", f"{us:.1f}", f"{us * rate / 1e4:.2f}"])
        return rows

    def overhead(self, app):
        units = APPS[app] // (8 if self.quick else 1)
        work = f"{app} {units}"
        commands = {"none": self.sampled(work, None)}
        options = OPTIONS[1:2] if self.quick else OPTIONS
        commands.update({o: self.sampled(work, o) for o in options})
        if os.path.exists(self.trace):
            commands[TRACE] = self.traced(work)
        runs = in_turns(self.rounds(11), commands)
        rows = []
        for name in list(commands)[1:]:
            user = percents(runs["none"], runs[name], "user_ms")
            rows.append([
                app, name if name == TRACE else f"sample:{name}",
                *(f"{statistics.median(r['user_ms'] for r in runs[which]):.0f}"
                  for which in ("none", name)),
                span(user), f"< {AIMS[name]}" if name in AIMS else "",
                verdict(user, AIMS[name]) if name in AIMS else "",
                span(percents(runs["none"], runs[name], "both_ms")),
                span(percents(runs["none"], runs[name], "took_ms")),
                *(("", "") if name == TRACE else self.header(name))])
        if TRACE in runs:
            beside = [r["cpu_ms"] - r["life_ms"] for r in runs[TRACE]]
            rows.append([app, f"{TRACE}: its own process", "",
                         f"{statistics.median(beside):.0f} (both)"] + [""] * 7)
        return rows

    def start(self):
        """Measures user and kernel CPU time of a program that ends at once."""
        commands = {"no profiler": self.sampled("", None, "hello"),
                    "the library alone": ([os.path.join(self.build, "runsxs"), RUNTIME, "hello", ""],
                                          self.variants.env["preload"])}
        for options in ("cpu=199,tiers=off", "cpu=199"):
            commands[f"sample:{options}"] = self.sampled("", options, "hello")
        runs = in_turns(self.rounds(20), commands)
        rows = []
        for name, values in runs.items():
            cpu, wall = ([r[key] for r in values] for key in ("cpu_ms", "wall_ms"))
            more = [a["cpu_ms"] - b["cpu_ms"] for a, b in zip(values, runs["no profiler"])]
            rows.append([name, f"{min(cpu):.0f}", f"{statistics.median(cpu):.0f}",
                         span(more, 0) if name != "no profiler" else "",
                         f"< {START_AIM}" if name.startswith("sample") else "",
                         f"{min(wall):.0f}", f"{statistics.median(wall):.0f}"])
        return rows

    def idle(self):
        ms = 1000 if self.quick else 5000
        names = (None, "cpu=199") if self.quick else (None, "cpu=199", "cpu=997", "wall=199")
        runs = in_turns(self.rounds(3), {name: self.sampled(f"idle {ms}", name) for name in names})
        return [[f"sample:{name}" if name else "no profiler",
                 f"{statistics.median(r['both_ms'] for r in runs[name]) * 1000 / ms:.2f}"]
                for name in names]

    def measure(self):
        try:
            self.note("sampling: walkers")
            tables = [("Walkers", WALK_HEAD, self.walkers())]
            self.note("sampling: clocks")
            tables.append(("The clocks by themselves", CLOCK_HEAD, self.clocks()))
            if not self.has_runtime:
                return tables
            self.note("sampling: below managed frames")
            tables.append(("Below managed frames", DEEP_HEAD, self.deep()))
            rows = []
            for app in APPS:
                self.note(f"sampling: {app}")
                rows += self.overhead(app)
            tables.append((f"Whole programs, .NET {RUNTIME}", APP_HEAD, rows))
            self.note("sampling: start")
            tables.append(("Start", START_HEAD, self.start()))
            self.note("sampling: idle")
            return tables + [("Nothing to do", IDLE_HEAD, self.idle())]
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)
