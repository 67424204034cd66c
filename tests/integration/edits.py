# SPDX-License-Identifier: MIT
"""edits.py - edits an instrumentation file many times while several runtimes call its methods.

usage: edits.py BUILD FOLDER EDITS VERSION...

Runs the app `edited` (harness/managed/edited) with 16 threads in each runtime, and replaces the file. After
each edit, waits until every thread of every runtime has seen the edit in every method, and measures the time
since the file was renamed. Writes FOLDER/log, FOLDER/session, and FOLDER/result.json with the measured times
and the counts of the apps and of the tool.
"""
import atexit
import json
import mmap
import os
import signal
import statistics
import subprocess
import sys
import time

build, folder, n_edits = os.path.realpath(sys.argv[1]), os.path.realpath(sys.argv[2]), int(sys.argv[3])
versions = sys.argv[4:]
THREADS = int(os.environ.get("THREADS", "16"))
GIVE_UP = float(os.environ.get("GIVE_UP", "20"))  # seconds for one edit
HOLD = float(os.environ.get("HOLD", "0.03"))  # seconds for which each edit stays in force
REPLACED, WRAPPED = 1, 2
RECURSIVE = 3  # the index of the method Recursive in a thread's line
SESSION, FILE, AT = folder + "/session", folder + "/edited.xml", folder + "/at"
TRACER = build + "/managed/tracer/tracer.dll"
BRIDGE = build + "/libsxsbridge.so"
BEGIN = '<?xml version="1.0"?>\n<instrumentation xmlns="urn:sxsprof:instrumentation:1">\n'

# ---- the contents of the file after an edit ------------------------------------------------------

WRAP = '<wrap assembly="%s" type="Tracer.Pairs" before="Start" after="Finish" arguments="n"/>' % TRACER
NATIVE = ('<call when="before" library="%s" symbol="sxsbridge_before" arguments="n"/>'
          '<wrap library="%s" before="sxsbridge_start" after="sxsbridge_finish" arguments="n"/>' % (BRIDGE, BRIDGE))
# flags, actions, counters that lines of IL increment
KINDS = [
    None,
    (0, "<count/>", ["counted"]),
    (REPLACED, "<count/>", ["counted"]),
    (REPLACED | WRAPPED, WRAP + "<count/>", ["counted", "wrapped"]),
    "broken",
    (0, "<trace/>", ["counted", "timed", "traced"]),
    (0, NATIVE + "<count/>", ["counted", "native"]),
    (WRAPPED, "<time/>" + WRAP, ["counted", "timed", "wrapped"]),
    (REPLACED, "", []),
]
OTHERS = '<match assembly="edited" type="Edited.Work" method="%s"/>'
METHODS = (OTHERS % "*" + '<match assembly="edited" type="Edited.Square" method="Get"/>'
           '<exclude method="Recursive"/><exclude method="Async"/>')


def lines(change, counters):
    entry = "ldc.i4 %d\nstsfld int32 Edited.Seen::entered\n" % change
    for name, n in [(name, 1) for name in counters] + [("entries", change)]:
        entry += ("ldsfld int64 Edited.Seen::%s\nldc.i8 %d\nadd\nstsfld int64 Edited.Seen::%s\n" % (name, n, name))
    left = ("ldc.i4 %d\nstsfld int32 Edited.Seen::left\nldsfld int64 Edited.Seen::exits\nldc.i8 %d\nadd\n"
            "stsfld int64 Edited.Seen::exits\n" % (change, change))
    return '<inject at="entry">%s</inject><inject at="exit">%s</inject>' % (entry, left)


def machine(change, counters):
    entry = "ldc.i4 %d\ncall void Edited.Seen::Machine(int32)\n" % change
    if "counted" in counters:
        entry += "call void Edited.Seen::MachineCounted()\n"
    if "timed" in counters:
        entry += "call void Edited.Seen::MachineTimed()\n"
    return ('<inject at="entry">%s</inject><inject at="exit">ldc.i4 %d\ncall void Edited.Seen::MachineLeft(int32)\n'
            "</inject>" % (entry, change))


def text_of(kind, change):
    """Returns the rules of the file, and the number of the change as most methods show it."""
    if kind is None:
        return "", 0
    flags, actions, counters = kind
    change |= flags
    plain = change & ~REPLACED
    replace = '<replace value="%d"/>' % change if flags & REPLACED else ""
    less = actions.replace("<trace/>", "<time/>")  # tracing records each call: one method only
    untraced = [c for c in counters if c != "traced"]
    rules = ""
    for match, what, own, names in ((METHODS + '<exclude method="Traced"/>', replace + less, change, untraced),
                                    (OTHERS % "Traced", replace + actions, change, counters),
                                    (OTHERS % "Recursive", less, plain, untraced)):
        rules += "<rule>%s%s</rule>\n" % (match, lines(own, names) + what if change & 16 else what + lines(own, names))
    counts = less.replace(WRAP, "").replace(NATIVE, "")
    rules += ('<rule><match assembly="edited" type="Edited.Work" method="Async" async="statemachine"/>%s%s</rule>\n' %
              (counts, machine(change, counters)))
    return rules, change


def put(text):
    with open(FILE + ".new", "w", encoding="utf-8") as f:
        f.write(text)
    os.rename(FILE + ".new", FILE)
    return time.monotonic()


# ---- the runtimes --------------------------------------------------------------------------------

class Seen:
    """The latest change that each thread of one runtime saw, in memory shared with the app."""

    def __init__(self, path, run):
        while not os.path.exists(path) or os.path.getsize(path) < 128:
            wait_for(run)
        self.map = mmap.mmap(os.open(path, os.O_RDWR), 0)
        self.view = memoryview(self.map).cast("i")
        while not self.view[0]:
            wait_for(run)
        self.used = self.view[3]

    def line(self, thread):
        return self.view[16 * (thread + 1):16 * (thread + 1) + self.used].tolist()

    def stop(self):
        self.view[1] = 1


def wait_for(run):
    if run.poll() is not None:
        sys.exit("the app ended too soon: status %d" % run.returncode)
    time.sleep(0.002)


def all_see(run, runtimes, change, since):
    expected = [change] * runtimes[0].used
    expected[RECURSIVE] = change & ~REPLACED
    for seen in runtimes:
        for thread in range(THREADS):
            while seen.line(thread) != expected:
                wait_for(run)
                if time.monotonic() - since > GIVE_UP:
                    return "%s: thread %d: %s" % (versions[runtimes.index(seen)], thread,
                                                  [v >> 4 for v in seen.line(thread)])
    return None


def memory_of(pid):
    said = open("/proc/%d/status" % pid, encoding="ascii").read()
    return int(said.split("RssAnon:")[1].split()[0])


def app_of(run):
    """Returns the process ID of the child of `sxsprof run`."""
    children = open("/proc/%d/task/%d/children" % (run.pid, run.pid), encoding="ascii").read().split()
    return int(children[0]) if children else run.pid


def end(run):
    """Kills the app if it still runs. Called at exit."""
    if run.poll() is None:
        os.kill(app_of(run), signal.SIGKILL)


def edit_all(run, runtimes):
    """Returns the seconds of each edit, descriptions of late edits, and the memory (KiB) after each edit."""
    times, late, memory, shown = [], [], [], 0
    for i in range(1, n_edits + 1):
        kind = KINDS[i % len(KINDS)] if i < n_edits else None  # the last edit removes all rules
        if kind == "broken":
            since = put(BEGIN + "<rule></broken>")
            time.sleep(0.1)
        else:
            if i % 4 == 0:  # an edit that the next one replaces before every thread sees it
                put(BEGIN + text_of(KINDS[3], i << 4)[0] + "</instrumentation>\n")
                time.sleep(0.02 * (i % 7))
            text, shown = text_of(kind, i << 4 | 8)
            since = put(BEGIN + text + "</instrumentation>\n")
        for seen in runtimes:
            seen.view[4] = i
        what = all_see(run, runtimes, shown, since)
        if what:
            late.append("edit %d: %s" % (i, what))
        if kind != "broken":
            times.append(time.monotonic() - since)
        time.sleep(HOLD)
        memory.append(memory_of(app_of(run)))
        if len(late) > 2:
            break
    return times, late, memory


# ---- run and results -----------------------------------------------------------------------------

def known_of(log):
    """Returns the counts that the app printed, by version and name, and its sums."""
    known, sums = {}, {}
    for line in log.splitlines():
        word = line.split()
        if line.startswith("edited: ") and len(word) > 3 and word[2] == "known":
            known[word[1] + " " + word[3]] = [int(n) for n in word[4:7]]
        elif line.startswith("edited: ") and len(word) > 3 and word[2] == "calls":
            for name, n in zip(word[2::2], word[3::2]):
                sums[name] = sums.get(name, 0) + int(n)
        elif line.startswith("called: "):
            sums.update((name, int(n)) for name, n in zip(word[1::2], word[2::2]))
    return known, sums


def counted_by_tool():
    """Returns the session's counts (calls, ended, traced), methods by state, and the report's messages."""
    said = subprocess.run([build + "/sxsprof", "report", "--format", "json", SESSION], capture_output=True, check=False)
    counted, states = {}, {}
    for method in json.loads(said.stdout)["instrument"]:
        name = "Edited.Work+<Async>" if "<Async>" in method["name"] else method["name"]
        counted[method["version"] + " " + name] = [method[key] for key in ("calls", "calls_ended", "calls_traced")]
        states[method["state"]] = states.get(method["state"], 0) + 1
    return counted, states, said.stderr.decode()


def run_all(log):
    words = "threads=%d at=%s tracer=%s" % (THREADS, AT, TRACER)
    apps = [word for v in versions for word in (v, "edited", words)]
    env = dict(os.environ, SXSPROF_INSTRUMENT=FILE)
    run = subprocess.Popen([build + "/sxsprof", "run", "--quiet", "-o", SESSION, "--", build + "/runsxs",
                            "--timeout", str(60 + n_edits * 12)] + apps, stdout=log, stderr=log, env=env)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    atexit.register(end, run)
    runtimes = [Seen("%s.%s" % (AT, v.split(".")[0]), run) for v in versions]
    measured = edit_all(run, runtimes)
    for seen in runtimes:
        seen.stop()
    return run.wait(), measured


def main():
    put(BEGIN + "</instrumentation>\n")
    with open(folder + "/log", "w", encoding="utf-8") as log:
        status, (times, late, memory) = run_all(log)
    known, sums = known_of(open(folder + "/log", encoding="utf-8").read())
    counted, states, said = counted_by_tool()
    tail = memory[len(memory) // 2:]
    result = {
        "status": status, "edits": len(memory), "late": late, "max_s": max(times), "median_s": statistics.median(times),
        "over_2_s": sum(t > 2 for t in times), "sums": sums, "states": states, "said": said,
        "different": {name: [known[name], counted.get(name)] for name in known if known[name] != counted.get(name)},
        "counted": sum(n for n, _, _ in known.values()), "traced": sum(n for _, _, n in known.values()),
        "kib_per_edit": round((tail[-1] - tail[0]) / max(1, len(tail) - 1), 1), "kib": memory[-1],
    }
    with open(folder + "/result.json", "w", encoding="utf-8") as f:
        json.dump(result, f, indent=1)
    print("%d edits, seen by all after at most %.0f ms (median %.0f ms, %d above 2 s); %d calls, %d counted, %d traced; "
          "%.1f KiB an edit" % (len(memory), max(times) * 1e3, result["median_s"] * 1e3, result["over_2_s"],
                                sums.get("calls", 0), result["counted"], result["traced"], result["kib_per_edit"]))


main()
