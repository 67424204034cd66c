# SPDX-License-Identifier: MIT
"""rewrite.py - measures the costs of calls of methods with new IL, against code written by hand, and of
an edit of the rules, against the runtime's own compiler."""
import os
import shutil
import statistics
import tempfile

from measure import Comparison, in_turns, newest_runtime

LATEST = newest_runtime()
# type in Bench.Rewritten: (name in the table, actions of the rule, limit in ns of the cost)
RULES = {
    "Untouched": ("untouched, in a program with rules", None, None),
    "Count": ("`count`", "<count/>", 2),
    "Time": ("`time`", "<time/>", None),
    "Trace": ("`trace`, with the result as text", "<trace/>", None),
    "TraceTimes": ("`trace` of times alone", "<trace result='false' exception='false'/>", None),
    "Inject": ("`inject` of an addition",
               "<inject at='entry'>\nldarg.0\nldc.i4.1\nadd\nstarg 0\n</inject>", None),
    "Native": ("native `call` before", "<call when='before' {n} symbol='bench_nothing'/>", 10),
    "NativeNumber": ("native `call` before, an int argument",
                     "<call when='before' {n} symbol='bench_number' arguments='0'/>", 10),
    "NativeFast": ("native `call` before, `transition=\"false\"`",
                   "<call when='before' {n} symbol='bench_nothing' transition='false'/>", 10),
    "NativeWrap": ("native `wrap`: two calls, result handed over",
                   "<wrap {n} before='bench_start' after='bench_finish'/>", None),
    "NativeInside": ("the same, and a native `call` inside its try block",
                     "<wrap {n} before='bench_start' after='bench_finish'/>"
                     "<call when='before' {n} symbol='bench_nothing'/>", None),
    "Managed": ("managed `call` before", "<call when='before' {m} method='Nothing'/>", None),
    "ManagedWrap": ("managed `wrap`: two calls, result boxed",
                    "<wrap {m} before='Start' after='Finish'/>", None),
}
HANDS = {
    "HandAdd": "`static long hits; hits++` (loses calls of several threads)",
    "HandInterlocked": "`Interlocked.Increment(ref hits)`",
    "HandStopwatch": "`Stopwatch.GetTimestamp()` twice, the difference added to a static",
    "HandPinvoke": "P/Invoke",
    "HandCalli": "`calli` unmanaged",
    "HandPinvokeFast": "P/Invoke, `SuppressGCTransition`",
    "HandCalliFast": "`calli` unmanaged, `SuppressGCTransition`",
    "HandPinvokeInTry": "P/Invoke in a try block",
    "HandCalliInTry": "`calli` unmanaged in a try block",
}
CALLS_HEAD = ["new IL", "runtime", "threads", "small: ns a call", "ns more", "computing: ns a call",
              "ns more", "aim", "met"]
HANDS_HEAD = ["by hand", "runtime", "threads", "small: ns a call", "more than untouched",
              "computing: ns a call", "more than untouched"]
EDITS = (("a name's", "System.Xml.XmlConvert", "EncodeName"), ("a type's", "System.Xml.XmlConvert", "*"),
         ("a namespace's", "System.Xml.Schema.*", "*"))
ACTIONS = {
    "`count`": "<count/>",
    "`time`": "<time/>",
    "`inject` of a call of another assembly's": "<inject at=\"entry\">ldc.r8 1.0&#10;"
        "call float64 [System.Runtime]System.Math::Abs(float64)&#10;pop</inject>",
}
EDITS_HEAD = ["methods", "rule", "runtime", "new IL", "weaving, us a method", "the longest",
              "re-JIT, us a method", "first JIT, us a method", "all, of the first JIT"]
FORCE_HEAD = ["methods", "rule", "runtime", "edit to in force, ms", "reading, ms", "matching, ms",
              "asking, ms", "longest request, ms", "longest stop, ms", "taking back, ms",
              "longest stop, ms"]


def span(mid, ends, sign="+"):
    lo, hi = ends
    return f"{mid:{sign}.2f} ({lo:{sign}.2f} to {hi:{sign}.2f})"


class Rewrite:
    """usage: Rewrite(bench.variants, runtimes, quick, note).measure() -> [(title, head, rows)]"""

    def __init__(self, variants, runtimes, quick, note):
        self.variants, self.runtimes, self.quick, self.note = variants, runtimes, quick, note
        self.build = variants.build
        self.folder = tempfile.mkdtemp(prefix="sxsprof-bench-")
        self.rules = os.path.join(self.folder, "calls.xml")
        self.out = os.path.join(self.folder, "session")
        with open(self.rules, "w", encoding="utf-8") as f:
            f.write(self.text())

    def rounds(self, n):
        return 1 if self.quick else n

    def text(self):
        native = f"library='{self.build}/bench/libbenchnative.so'"
        managed = f"assembly='{self.build}/managed/bench/bench.dll' type='Bench.Helper'"
        rules = "".join(
            f"<rule><match assembly='bench' type='Bench.Rewritten+{name}'/>"
            f"{does.format(n=native, m=managed)}</rule>\n"
            for name, (_, does, _) in RULES.items() if does)
        return f"<instrumentation xmlns='urn:sxsprof:instrumentation:1'>\n{rules}</instrumentation>\n"

    def command(self, version, work, rules=None, more=None):
        """Returns (command, environment) of the app, all code optimized; with @rules it records a session."""
        app = [os.path.join(self.build, "runsxs"), version, "bench", work]
        env = dict(self.variants.env["preload" if rules else "none"], DOTNET_TieredCompilation="0",
                   BENCH_NATIVE=os.path.join(self.build, "bench/libbenchnative.so"), **(more or {}))
        if not rules:
            return app, env
        env.update(SXSPROF_OUT=self.out, SXSPROF_INSTRUMENT=rules)
        script = 'rm -rf "$0"; "$@" && [ -d "$0" ]'
        return ["sh", "-c", script, self.out] + app, env

    # ---- calls ----------------------------------------------------------------------------------

    def run_calls(self):
        cells = [(version, 1) for version in self.runtimes]
        if LATEST in self.runtimes:
            cells += [(LATEST, 2), (LATEST, 8)]
        runs = {}
        for version, threads in cells[-1:] if self.quick else cells:
            self.note(f"{version}: calls of methods with new IL, {threads} threads")
            work = f"rewritten {threads}"
            runs[version, threads] = in_turns(self.rounds(15), {
                "none": self.command(version, work),
                "rules": self.command(version, work, self.rules)})
        return runs

    @staticmethod
    def met(small, aim):
        if aim is None:
            return "", ""
        lo, hi = small.cost_range
        return f"< {aim}", "yes" if hi < aim else "NO" if lo >= aim else "unclear"

    def calls(self, runs):
        """Compares each method with the same method in a run without a profiler."""
        rows = []
        for name, (text, _, aim) in RULES.items():
            for (version, threads), got in runs.items():
                both = [Comparison(got["none"], got["rules"], f"{name}_{key}")
                        for key in ("small", "works")]
                cells = [c for x in both for c in (f"{x.b:.2f}", span(x.cost, x.cost_range))]
                rows.append([text, version, str(threads), *cells, *self.met(both[0], aim)])
        return rows

    def hands(self, runs):
        """Compares each method written by hand with the untouched method of the run without a profiler."""
        rows = []
        for name, text in HANDS.items():
            for (version, threads), got in runs.items():
                cells = []
                for key in ("small", "works"):
                    own = [r[f"{name}_{key}"] for r in got["none"]]
                    more = [x - r[f"Untouched_{key}"] for x, r in zip(own, got["none"])]
                    cells += [f"{statistics.median(own):.2f}",
                              span(statistics.median(more), (min(more), max(more)))]
                rows.append([text, version, str(threads), *cells])
        return rows

    # ---- edits ----------------------------------------------------------------------------------

    def edits(self):
        """Precompiled code is disabled, so that the runtime's compiler also makes the first compilation."""
        method_rows, force_rows = [], []
        rules = os.path.join(self.folder, "edited.xml")
        for version in self.runtimes[-1:] if self.quick else self.runtimes:
            self.note(f"{version}: edits")
            with open(rules, "w", encoding="utf-8") as f:
                f.write("<instrumentation xmlns='urn:sxsprof:instrumentation:1'/>")
            commands = {
                (what, label): self.command(version, f"edits {kind} {method} '{action}'", rules,
                                            {"DOTNET_ReadyToRun": "0"})
                for what, kind, method in EDITS for label, action in ACTIONS.items()}
            for (what, label), got in in_turns(self.rounds(3), commands).items():
                def mid(key, digits=1, got=got):
                    return f"{statistics.median(r[key] for r in got):.{digits}f}"
                ratio = statistics.median((r["weave_us"] + r["rejit_us"]) / r["jit_us"] for r in got)
                head = [what, label, version]
                method_rows.append(head + [mid("woven", 0), mid("weave_us"), mid("weave_longest_us", 0),
                                           mid("rejit_us"), mid("jit_us"), f"{ratio:.2f}"])
                force_rows.append(head + [mid(key) for key in (
                    "in_force_ms", "load_ms", "match_ms", "ask_ms", "ask_longest_ms", "stop_ms",
                    "reverted_ms", "stop_revert_ms")])
        method_rows.sort(key=lambda row: [e[0] for e in EDITS].index(row[0]))
        force_rows.sort(key=lambda row: [e[0] for e in EDITS].index(row[0]))
        return method_rows, force_rows

    def measure(self):
        try:
            if not self.runtimes:
                return []
            runs = self.run_calls()
            method_rows, force_rows = self.edits()
            return [("Calls", CALLS_HEAD, self.calls(runs)),
                    ("Calls, written by hand", HANDS_HEAD, self.hands(runs)),
                    ("An edit: each method", EDITS_HEAD, method_rows),
                    ("An edit: as a whole", FORCE_HEAD, force_rows)]
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)
