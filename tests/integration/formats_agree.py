# SPDX-License-Identifier: MIT
"""formats_agree.py - compares all outputs of one session number by number: text, JSON, the page (its data, and what a browser
shows), pprof, collapsed stacks, speedscope, top, what is pushed to servers, and what a fleet's server answers. Prints TAP
lines.

usage: formats_agree.py FOLDER TOOL    FOLDER has TOOL.text, TOOL.json, TOOL.html, TOOL.collapsed.DATA and so on; FOLDER/shown
has what formats_agree.mjs prints. A tool without a comparison in this file fails."""
import collections
import gzip
import json
import os
import re
import subprocess
import sys

DIGIT = {c: i for i, c in enumerate("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")}
folder, tool = sys.argv[1:3]


def path(kind):
    return "%s/%s.%s" % (folder, tool, kind)


def read(kind):
    return open(path(kind)).read() if os.path.exists(path(kind)) else ""


text, report = read("text"), json.loads(read("json") or "{}")
failed = 0


def claim(what, good, *got):
    global failed
    failed |= not good
    print("%s - %s: %s" % ("ok" if good else "not ok", tool, what))
    if not good:
        for g in got:
            print("# got: %s" % str(g)[:400])


def same(what, *values):
    claim(what, len({json.dumps(v, sort_keys=True) for v in values}) == 1, *values)


# ---- the forms of numbers: cmd/output/text.c and cmd/page/numbers.js ----

def size_text(n):
    units, unit, limit = ["B", "KiB", "MiB", "GiB", "TiB"], 0, 1023.5
    while n >= limit and unit < 4:
        n, unit, limit = n / 1024, unit + 1, 1023.995
    return "%.2f %s" % (n, units[unit]) if unit else "%d B" % n


def time_text(ns):
    for unit, name in ((1e9, "s"), (1e6, "ms"), (1e3, "us")):
        if ns >= unit:
            return "%.2f %s" % (ns / unit, name)
    return "%d ns" % ns if ns else "-"


def page_percent(part, whole):
    share = part / whole
    return ("%.1f %%" if share >= 0.0995 else "%.2f %%") % (100 * share) if whole else "0 %"


def counted(n, one):
    many = one[:-1] + "ies" if re.search("[^aeou]y$", one) else one + ("es" if re.search("(s|x|ch)$", one) else "s")
    return "%s %s" % (format(n, ","), one if n == 1 else many)


def first(pattern, said=None):
    found = re.search(pattern, text if said is None else said, re.M)
    return found.groups() if found else None


# ---- formats ----

def numbers(said):
    out, value, unit = [], 0, 1
    for c in said:
        d = DIGIT[c]
        value += (d & 31) * unit
        unit *= 32
        if not d & 32:
            out.append(value)
            value, unit = 0, 1
    return out


class Page:
    """One kind of data of a page: sums, and own numbers and weights by function."""

    def __init__(self, data):
        self.data = data
        flat, stack, self.own, self.n, self.weight = numbers(data["nodes"]), [], collections.Counter(), 0, 0
        for i in range(0, len(flat), 5):
            up, frame, n, weight, _ = flat[i:i + 5]
            del stack[max(0, len(stack) - up):]
            stack.append(frame)
            self.n += n
            self.weight += weight * data["unitNs"]
            if len(stack) > 1:
                self.own[self.name(frame)] += weight * data["unitNs"]
        self.threads = sum(1 for t in data["threads"] if t[3])

    def name(self, frame):
        f, strings = self.data["frames"][frame], self.data["strings"]
        if f[2]:
            return "[%s] %s" % (self.data["runtimes"][f[2] - 1][1], strings[f[0]])
        return "[native] %s!%s" % (strings[f[1]].split("/")[-1], strings[f[0]])


def pages():
    html, found = read("html"), {}
    for block in re.findall(r'<script type="application/json"[^>]*>(.*?)</script>', html, re.S):
        data = json.loads(block)
        if "nodes" in data:
            found[data["data"]] = Page(data)
    return found


def collapsed(data):
    sums = collections.Counter()
    for line in read("collapsed." + data).splitlines():
        stack, n = line.rsplit(" ", 1)
        sums[stack.split(";")[-1] if ";" in stack else ""] += int(n)
    return sums


def speedscope(data):
    d = json.loads(read("speedscope." + data) or '{"profiles": []}')
    scale = {"nanoseconds": 1, "microseconds": 1000, "bytes": 1, "none": 1}
    return sum(w * scale[p["unit"]] for p in d["profiles"] for w in p["weights"])


def pprof(data, kind="pprof"):
    """Returns the sums of both values, over all stacks."""
    said = subprocess.run([sys.executable, "tests/profile/pprof_values.py", path(kind + "." + data)], capture_output=True, text=True).stdout
    rows = [line.split(" ", 2) for line in said.splitlines()[1:]]
    return [sum(int(r[0]) for r in rows), sum(int(r[1]) for r in rows)]


def shown(part):
    """What a browser shows of the page; None without a browser."""
    if not os.path.exists(folder + "/shown"):
        return None
    page = json.load(open(folder + "/shown"))[path("html")]
    same("the page has no errors in a browser", page["errors"], [])
    return page["parts"].get(part) or page["parts"].get("")


def pushed(data):
    """The sums of what was pushed to a server of profiles, over all batches; None: nothing was."""
    sums = [0, 0]
    if not os.path.isdir(path("pushed")):
        return None
    for name in sorted(os.listdir(path("pushed"))):
        if not name.endswith(".pprof"):
            continue
        with open(path("pushed") + "/" + name, "rb") as f:
            body = f.read()
        with gzip.open(path("batch." + data), "wb") as f:
            f.write(gzip.decompress(body) if body[:2] == b"\x1f\x8b" else body)
        sums = [a + b for a, b in zip(sums, pprof(data, "batch"))]
    return sums


def compare_fleet(data, n, total, own):
    """What a fleet's server answers about the data that were pushed to it. @own: own weights by function."""
    kind = {"samples": "wall" if tool == "wait" else "cpu"}.get(data, data)
    said = read("fleet." + kind)
    if not said and not any(name.startswith(tool + ".fleet.") for name in os.listdir(folder)):
        return # there is no server
    answer = json.loads(said or '{"functions": []}')
    unit = answer.get("unit", "ns")
    # A batch for each minute has its sums rounded.
    slack = 2 * (data in ("alloc", "native", "locks"))
    claim("%s: number and weight: page and the fleet's server" % data, abs(answer.get("samples", 0) - n) <= slack and
          abs(answer.get("total_" + unit, 0) - total) <= slack, [answer.get(k) for k in ("samples", "total_" + unit)], [n, total])
    names = collections.Counter()
    for f in answer["functions"]: # types have an ending there, and files of their own in pages
        names[f["name"].removesuffix(" (type)")] += f["self_" + unit]
    for name, weight in (+own).most_common(6): # those with a weight
        name = name.replace("[native] [wait]!", "").replace("[native] [type]!", "[native] ")
        claim("%s: own weight of %s: page and the fleet's server" % (data, name[:60]), abs(names[name] - weight) <= slack, names[name], weight)


top = json.loads(read("top") or "{}")


# ---- what every output has ----

def compare_first_lines(page=True):
    missing = [m["text"] for m in report.get("missing", [])]
    lines = text.split("\n")[:len(missing)]
    same("what is missing: the first lines of the text, and JSON", missing, lines)
    if page and read("html"):
        for name, p in pages().items():
            same("what is missing: JSON, and the page of " + name, missing, p.data["missing"][:len(missing)])
            s = shown(name)
            if s:
                same("what is missing: JSON, and what the page of %s shows" % name, "\n".join(p.data["missing"]), s["missing"])
    same("a session without limits reached has dropped nothing", [m["what"] for m in report.get("missing", []) if m["what"].endswith("dropped")], [])


def compare_runtimes():
    """The table of runtimes."""
    for r in report["runtimes"]:
        row = first(r"^ *%d  %s +%s +(\d+) +(\d+) +(\d+) +(\d+) +(\d+) +(\d+)$" % (r["runtime"], re.escape(r["version"]), r["state"]))
        same("the table of runtimes: text and JSON", row and [int(n) for n in row],
             [r[k] for k in ("modules", "methods", "threads_created", "gcs", "exceptions_thrown", "signals")])
        for t in top.get("runtimes", []):
            same("counts of runtimes: JSON and top", [r["gcs"], r["exceptions_thrown"], r["methods"]], [int(t[k]) for k in ("gcs", "exceptions_thrown", "methods")])


def compare_stacks(data, total_n, total, names):
    """Sums and functions of one kind of data. @names: own weight by function, from JSON; None: JSON has no functions."""
    p = pages()[data]
    c = collapsed(data)
    same(data + ": numbers: JSON, page and pprof", total_n, p.n, pprof(data)[0])
    same(data + ": weights: JSON, page, pprof, collapsed and speedscope", total, p.weight, pprof(data)[1], sum(c.values()), speedscope(data))
    if data != "calls":
        compare_fleet(data, total_n, total, p.own)
    got = pushed(data)
    if got:
        same(data + ": what was pushed", [total_n, total], got)
    if names is not None:
        own = collections.Counter()
        for name, n in p.own.items():
            own[name] += n
        for name, n in names.most_common(8):
            same("%s: own weight of %s: JSON and page" % (data, name[:60]), n, own[name])
    return p


def compare_served():
    """What sxsprof serve sends of a session: the same numbers as the page that report writes."""
    written = [json.loads(b) for b in re.findall(r'<script type="application/json"[^>]*>(.*?)</script>', read("html"), re.S)]
    written = [d for d in written if "strings" in d]
    served = [json.loads(read(name[len(tool) + 1:]))["data"] for name in sorted(os.listdir(folder)) if name.startswith(tool + ".served.")]
    same("kinds of data: the page, and what serve sends", sorted(d["data"] for d in written), sorted(d["data"] for d in served))
    for d in written:
        for s in [s for s in served if s["data"] == d["data"]]:
            same("what is missing: the page of %s, and what serve sends" % d["data"], d["missing"], s["missing"])
            same("threads: the page of %s, and what serve sends" % d["data"], d["threads"], s["threads"])
            if "nodes" in d:
                a, b = Page(d), Page(s)
                same("sums of %s: the page, and what serve sends" % d["data"], [a.n, a.weight, a.threads], [b.n, b.weight, b.threads])
                same("functions of %s: the page, and what serve sends" % d["data"], sorted(a.own.items()), sorted(b.own.items()))
            if "line" in d:
                same("the timeline of %s: the page, and what serve sends" % d["data"],
                     *[[v["line"][k] for k in ("nSpans", "nCalls", "sites", "spanNs")] for v in (d, s)])


# ---- the tools ----

def compare_samples(data):
    s = report["profile"]
    names = collections.Counter()
    for f in report["profile_functions"]:
        names[f["name"]] += f["self_ns"]
    total = s["total_ns"] if data == "samples" else s["waiting_ns"]
    n = s["total_samples"] if data == "samples" else s["waiting_samples"]
    p = compare_stacks(data, n, total, names if data == "samples" else None)
    if data != "samples":
        return
    same("samples: text and JSON", first(r"^  (\d+) samples?, (\d+) dropped"), (str(s["processes"][0]["samples_recorded"]), str(s["processes"][0]["samples_dropped"])))
    same("time: text and JSON", first(r"^shares of ([\d.]+) s")[0], "%.3f" % (total / 1e9))
    for what, key in (("native", "native_ns"), ("GC", "gc_ns"), ("JIT", "jit_ns")):
        same("share of %s: text and JSON" % what, first(r"^ *([\d.]+) %%  %s$" % what)[0], "%.2f" % (100 * s[key] / total))
    threads = [t for t in report["profile_threads"] if t["total_samples"]]
    listed = text.split("\nthreads\n")[1].split("\n\n")[0]
    more = re.search(r"^  and (\d+) more$", listed, re.M)
    same("threads with samples: JSON, page and text", len(threads), p.threads,
         len(re.findall(r"%  .*\[\d+\]$", listed, re.M)) + (int(more.group(1)) if more else 0))
    same("samples: the sum over threads", sum(t["total_samples"] for t in threads), s["total_samples"])
    said = {m.group(3): m.group(1) for m in re.finditer(r"^ *([\d.]+) %  +([\d.]+) %  (\[.*?)(?: \((?:tier \d|OSR|R2R|stub|dynamic|optimized|unknown tier)\))?$",
                                                     text.split("top functions by self")[1].split("\n\n")[0], re.M)}
    for name, ns in [v for v in names.most_common(6) if v[1]]:
        same("share of %s: text and JSON" % name[:60], said.get(name), "%.2f" % (100 * ns / total))
    for f in sorted(top.get("functions", []), key=lambda f: -f["self_ns"])[:6]:
        own = [j for j in report["profile_functions"] if f["name"].endswith(j["name"].split("] ", 1)[-1])]
        claim("time of %s: top and JSON" % f["name"][:60], f["self_ns"] in [j["self_ns"] for j in own], f, own)
    s = shown("samples")
    if s:
        claim("the page shows samples and threads as JSON has them", s["summary"].startswith(counted(n, "sample")) and
              counted(len(threads), "thread") in s["summary"], s["summary"])
        rows = {r[0]: r[1:] for r in s["rows"]}
        for name, ns in names.most_common(4):
            short = name.split("] ", 1)[-1] # the page shows whose code it is by a colour
            symbol = short.split("!", 1)[-1]
            row = rows.get(short if name[1] != "n" else short.split("!", 1)[0] if symbol == "?" else symbol)
            f = [j for j in report["profile_functions"] if j["name"] == name]
            claim("share of %s in the page's table" % name[:60], row and page_percent(sum(j["total_ns"] for j in f), total) in row, row, name)


def compare_sample():
    compare_samples("samples")


def compare_wait():
    compare_samples("samples")
    compare_samples("wait")
    waiting = report["profile"]["waiting_ns"]
    same("waiting: text and JSON", first(r"^ *([\d.]+) %  of it waiting$")[0], "%.2f" % (100 * waiting / report["profile"]["total_ns"]))


def compare_calls():
    functions = [f for f in report["functions"] if f["calls"]]
    n, own = sum(f["calls"] for f in functions), sum(t["self_ns"] for t in report["calltree"])
    names = collections.Counter()
    p = compare_stacks("calls", n, own, names)
    said = first(r"^  (\d+) calls? of (\d+) functions? on (\d+) threads?")
    same("calls, functions and threads: text, JSON and page", [int(v) for v in said], [n, len(report["functions"]), p.threads])
    for f in sorted(functions, key=lambda f: -f["self_ns"])[:6]:
        row = first(r"^ *(\d+) +([\d.]+ \S+) +([\d.]+ \S+) .*\] %s(?: \(.*\))?$" % re.escape(f["signature"]))
        same("calls and times of %s: text and JSON" % f["name"], row and list(row), [str(f["calls"]), time_text(f["self_ns"]), time_text(f["total_ns"])])
    s = shown("calls")
    if s:
        claim("the page shows the calls", s["summary"].startswith(counted(n, "call")), s["summary"])


def compare_costs(data, key, n_key, value_key, title, one, value_text, in_top):
    rows = report[key]
    n, value = sum(r[n_key] for r in rows), sum(r[value_key] for r in rows)
    p = pages()[data]
    said = first(r"^%s: (?:at least )?([\d.,]+ \S+) in ([\d,]+) %ss?" % (title, one))
    page_n, page_value = sum(numbers(p.data["nodes"])[2::5]), p.weight
    slack = len(rows) # JSON has whole numbers by type, each rounded; the sums of the others are rounded once
    claim("sums: JSON and page", abs(n - page_n) <= slack and abs(value - page_value) <= slack, (n, value), (page_n, page_value))
    same("sums: text and page", said and list(said), [value_text(page_value), format(page_n, ",")])
    same("sums: page, pprof, collapsed, speedscope", page_value, pprof(data)[1], sum(collapsed(data).values()), speedscope(data))
    same("numbers: page and pprof", page_n, pprof(data)[0])
    compare_fleet(data, page_n, page_value, p.own)
    got = pushed(data)
    if got:
        # a batch for each minute, each with its sums rounded
        claim("sums: what was pushed", abs(got[1] - page_value) <= 2 and abs(got[0] - page_n) <= 2, got, (page_n, page_value))
    s = shown(data)
    if s:
        claim("the page shows the sums", counted(page_n, one) in s["summary"] and (value_text is not size_text or size_text(page_value) in s["summary"]), s["summary"])
    types = collections.Counter()
    for r in rows:
        types["[%s] %s" % (r["version"], r["type"]) if r.get("version") else r["type"]] += r[value_key]
    for name, v in types.most_common(4):
        row = first(r"^ *([\d.]+ \S+) +([\d.]+) %% +.*  %s(?:  \(.*\))?$" % re.escape(name))
        share = 100 * v / page_value
        # JSON has whole bytes, and the text the share of what is estimated: at a half of the last digit it may be either.
        of_text = row[1] if row and abs(float(row[1]) - share) < 0.005 + 100 / page_value else "%.2f" % share
        same("bytes or time of %s, and its share: text and JSON" % name[:50], row and list(row), [value_text(v), of_text])
    for t in top.get(in_top, [])[:4]:
        v = t.get("bytes", t.get("wait_ns", 0))
        own = [r[value_key] for r in rows if r["type"] == t.get("type", t.get("kind"))]
        claim("%s: top and JSON" % t.get("type"), any(abs(v - m) <= 1 for m in own), t, own)


def compare_alloc():
    compare_costs("alloc", "allocations", "objects", "bytes", "allocated", "object", size_text, "allocations")


def compare_native():
    compare_costs("native", "native", "blocks", "bytes", "allocated natively", "block", size_text, "native")


def compare_locks():
    compare_costs("locks", "locks", "waits", "wait_ns", "waited for locks", "wait", time_text, "locks")


def line():
    return json.loads(re.search(r'<script type="application/json"[^>]*>(.*?)</script>', read("html"), re.S).group(1))["line"]


def compare_exceptions():
    n = sum(e["count"] for e in report["exceptions"])
    said = first(r"^exceptions: (\d+) at (\d+) throw sites?$")
    same("exceptions: text, JSON, the page's data, and the table of runtimes", n, int(said[0]), sum(s[8] for s in line()["sites"]),
         sum(r["exceptions_thrown"] for r in report["runtimes"]))
    same("throw sites: text, JSON and the page's data", len(report["exceptions"]), int(said[1]), len(line()["sites"]))
    same("exceptions: top", n, int(sum(e["count"] for e in top["exceptions"])))
    s = shown("")
    if s:
        claim("the page shows the exceptions", counted(n, "exception") in s["summary"], s["summary"])


def compare_events():
    events = report["events"]
    same("events: text, JSON and the page's data", len(events), int(first(r"^events: (\d+)$")[0]), line()["nSpans"])
    kinds = collections.Counter(e["kind"] for e in events)
    for kind in sorted(kinds):
        same("events of the kind %s: text and JSON" % kind, kinds[kind], sum(int(m) for m in re.findall(r"^ *(\d+)  \[[^]]*\] %s(?:[,:]|$)" % kind, text, re.M)))
    same("collections: JSON and the table of runtimes", kinds["gc"], sum(r["gcs"] for r in report["runtimes"]))
    s = shown("")
    if s:
        for kind, one in (("jit", "compilation"), ("suspension", "stop"), ("gc", "collection")):
            claim("the page shows each " + one, counted(kinds[kind], one) in s["summary"], s["summary"])


def compare_gc():
    gcs = report["collections"]
    same("collections: text, JSON, the table of runtimes and top", len(gcs), int(first(r"^collections: (\d+) ")[0]),
         sum(r["gcs"] for r in report["runtimes"]), int(top["gcs"]))
    paused, row = sum(g["pause_ns"] for g in gcs), first(r"^ *(\d+)  all +([\d.]+ \S+) ")
    same("pauses: text and JSON", [str(len(gcs)), time_text(paused)], list(row))
    for g in range(3):
        own = [c for c in gcs if c["generation"] == g]
        row = first(r"^ *(\d+)  generation %d +([\d.]+ \S+) " % g)
        if own:
            same("generation %d: text and JSON" % g, [str(len(own)), time_text(sum(c["pause_ns"] for c in own))], row and list(row))
        row = first(r"^  generation %d +([\d.]+ \S+) +([\d.]+ \S+)" % g)
        same("generation %d, bytes: text and JSON" % g, row and list(row), [size_text(sum(c["generations"][g][k] for c in gcs)) for k in ("freed_bytes", "promoted_bytes")])
    s = shown("")
    if s:
        claim("the page shows the collections", counted(len(gcs), "collection") in s["summary"], s["summary"])


def compare_instrument():
    rows = report["instrument"]
    n = sum(r["calls"] for r in rows)
    same("methods: text and JSON", first(r"^instrumented: (\d+ methods?), (\d+) active"), (counted(len(rows), "method"), str(sum(r["state"] == "active" for r in rows))))
    for r in rows:
        row = first(r"^  %s +(\d+) +(\d+) +([\d.]+ \S+) +([\d.]+ \S+)  .*\] %s" % (r["state"], re.escape(r["label"])))
        same("calls of %s: text and JSON" % r["label"], row and list(row), [str(r["calls"]), str(r["calls_threw"]), time_text(r["total_ns"]), time_text(r["mean_ns"])])
    same("traced calls: text, JSON and the page's data", n, report["traced_calls"], line()["nCalls"], int(first(r"of (\d+)$")[0]))
    same("calls of a program of known content", n, int(os.environ["CALLS"]))


def compare_heap():
    data = json.loads(read("heap.json"))
    page = json.loads(re.search(r'id="data">(.*?)</script>', read("heap.html"), re.S).group(1))
    said = read("heap.text")
    for r, p in zip(data["runtimes"], page["runtimes"]):
        row = first(r"^runtime %d \(.*\): (\d+) objects?, ([\d.]+ \S+)," % r["runtime"], said)
        same("objects and bytes: text, JSON and the page's data", list(row), [str(r["objects"]), size_text(r["bytes"])], [str(p["objects"]), size_text(p["bytes"])])
        types = [t for t in data["heap"] if t["runtime"] == r["runtime"]]
        same("the sums over types: JSON", [sum(t["objects"] for t in types), sum(t["bytes"] for t in types)], [r["objects"], r["bytes"]])
        for t in types[:5]:
            row = first(r"^ *(\d+) +([\d.]+ \S+) +([\d.]+) %% +([\d.]+ \S+)  %s(?: \(.*\))?$" % re.escape(t["type"]), said)
            same("%s: text and JSON" % t["type"][:50], row and list(row), [str(t["objects"]), size_text(t["bytes"]), "%.1f" % (100 * t["bytes"] / r["bytes"]), size_text(t["retained_bytes"])])
    if os.path.exists(folder + "/shown"):
        shows = json.load(open(folder + "/shown"))[path("heap.html")]
        same("the page has no errors in a browser", shows["errors"], [])
        claim("the page shows objects and bytes", shows["parts"][""]["summary"].startswith(
            "%s · %s" % (counted(data["runtimes"][0]["objects"], "object"), size_text(data["runtimes"][0]["bytes"]))), shows["parts"][""]["summary"])


def compare_census():
    pass # the table of runtimes is compared for every tool


claim("the session was written as text", text != "" or tool == "heap")
compare = globals().get("compare_" + tool)
if not compare:
    claim("there is a comparison of its outputs", False, "write compare_%s() in tests/integration/formats_agree.py" % tool)
    sys.exit(1)
compare_first_lines()
compare_runtimes()
if read("html"):
    compare_served()
compare()
sys.exit(failed)
