# SPDX-License-Identifier: MIT
"""sessions.py - checks that reports of damaged and cut sessions have a message and all whole parts.

usage: sessions.py SXSPROF MAKERS ROUNDS [SEED]
MAKERS: folder of make_samples, make_calls, make_events and make_instrument. Prints errors.
"""
import json
import os
import random
import resource
import shutil
import struct
import subprocess
import sys
import tempfile

HEADER, CHUNK, CELL = 4096, 262144, 64
FORMATS = ["text", "json", "html", "collapsed", "speedscope", "pprof", "chrome", "firefox"]
sxs, makers, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3])
maker = os.path.join(makers, "make_samples")
first_seed = int(sys.argv[4]) if len(sys.argv) > 4 else 1
sanitized = "/san" in sxs  # a sanitizer reserves address space by the terabyte
tmp = tempfile.mkdtemp(prefix="sxsprof-fuzz-")
env = dict(os.environ, ASAN_OPTIONS="detect_leaks=0:exitcode=77:abort_on_error=0",
           UBSAN_OPTIONS="halt_on_error=1:exitcode=77")
odd = [0, 1, 7, 8, 0x7f, 0xff, 0xffff, 0x7fffffff, 0xffffffff, 2**63, 2**64 - 1]


def bound_memory():
    if not sanitized:
        resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))


def report(form, session, *more):
    p = subprocess.run([sxs, "report", "--format", form, *more, session], capture_output=True, env=env,
                       timeout=60 if sanitized else 20, preexec_fn=bound_memory)
    return p.returncode, p.stdout, p.stderr


def samples_in(out):
    """The number of samples in collapsed stacks, whose weights are in ns: each sample stands for 5 ms."""
    return sum(int(line.rsplit(b" ", 1)[1]) for line in out.splitlines()) // 5000000


def misuse(r, data, content, cells):
    """Damages a file of cells: changes a reference, size or kind, or clears or copies cells."""
    cell = HEADER + CELL * r.randrange(1, cells)
    how = r.randrange(5)
    if how < 3:
        at = (cell if r.random() < 0.8 else 0) + 4 * r.randrange(CELL // 4)
        value = r.choice([r.randrange(2 * cells), r.randrange(cells), r.randrange(4), 0xffff, r.choice(odd)])
        data[at:at + 4] = (value & 0xffffffff).to_bytes(4, "little")
    elif how == 3:
        size = CELL * r.randrange(1, 4)
        data[cell:cell + size] = bytes(size)
    else:
        source = HEADER + CELL * r.randrange(1, cells)
        data[cell:cell + CELL] = data[source:source + CELL]


def mutate(r, data, content, cells=0):
    """Returns @data with changed bytes, words and ranges in its first @content bytes, sometimes cut."""
    data = bytearray(data)
    for _ in range(r.choice([1, 3, 10]) if cells else 0):
        misuse(r, data, content, cells)
    if cells and r.random() < 0.7:
        return bytes(data)
    for _ in range(r.choice([1, 1, 3, 30])):
        at = r.randrange(content if r.random() < 0.8 else min(content, 2048))
        how = r.randrange(4)
        if how == 0:
            data[at] = r.randrange(256)
        elif how == 1:
            size = r.choice([1, 2, 4, 8])
            data[at:at + size] = (r.choice(odd) & (256**size - 1)).to_bytes(size, "little")
        elif how == 2:
            size, source = r.randrange(1, 300), r.randrange(content)
            data[at:at + size] = data[source:source + size]
        else:
            data[at] ^= 1 << r.randrange(8)
    return bytes(data[:r.randrange(len(data))] if r.random() < 0.3 else data)


def judge(form, session, changed, more):
    """Runs a report of a damaged session. Returns the error as text, or None."""
    try:
        status, out, err = report(form, session, *more)
    except subprocess.TimeoutExpired:
        return "takes too long"
    text = err.decode("utf-8", "replace")
    if status not in (0, 1, 2):
        return "status %d: %s" % (status, text[:1500])
    if status and not text.startswith("sxsprof: "):
        return "status %d and no message: %s" % (status, text[:300])
    if status == 1 and not any(name in text for name in changed):
        return "status 1, but the message names no file: " + text[:300]
    shown = err + (out if form in ("text", "collapsed") else b"")
    if any(byte < 32 and byte not in (9, 10) or byte == 127 for byte in shown):
        return "control characters: %r" % bytes(b for b in shown if b < 32 or b == 127)[:20]
    if form not in ("text", "collapsed", "html", "pprof") and status != 2 and out:
        try:
            json.loads(out)
        except ValueError as e:
            return "no JSON: %s" % e
    return None


def main():
    whole = os.path.join(tmp, "whole")
    subprocess.run([maker, whole, "scale", "500", "16000"], check=True)
    pid, = os.listdir(whole)
    files = {name: open(os.path.join(whole, pid, name), "rb").read() for name in ("census", "samples")}
    bad = []

    def write(session, name, data):
        with open(os.path.join(session, pid, name), "wb") as f:
            f.write(data)

    # Whole parts are shown: half a file has about half of its samples; one damaged record loses one sample.
    damaged = os.path.join(tmp, "damaged")
    shutil.copytree(whole, damaged)
    status, out, _ = report("collapsed", whole)
    all_samples = samples_in(out)
    if status or not all_samples:
        bad.append("the whole session: status %d, %d samples" % (status, all_samples))
    size = len(files["samples"])
    for share in (0.25, 0.5, 0.75):
        write(damaged, "samples", files["samples"][:HEADER + int((size - HEADER) * share)])
        status, out, err = report("collapsed", damaged)
        got = samples_in(out) / all_samples
        if status != 1 or b"cut" not in err or b"samples" not in err or abs(got - share) > 0.1:
            bad.append("cut at %.0f %%: status %d, %.0f %% shown, %r" % (100 * share, status, 100 * got, err))
    data = bytearray(files["samples"])
    # A sample in the middle of the file's last chunk, which has nothing but samples.
    at = HEADER + (size - HEADER) // CHUNK * CHUNK - CHUNK + 16
    for _ in range(40):
        at += struct.unpack_from("<I", data, at)[0]
    data[at + 4:at + 6] = b"\0\1"
    write(damaged, "samples", bytes(data))
    status, out, err = report("collapsed", damaged)
    if status != 1 or all_samples - samples_in(out) != 1 or b"damaged" not in err:
        bad.append("one record damaged: status %d, %d of %d samples, %r" %
                   (status, samples_in(out), all_samples, err))

    # Without a census the samples of a process are still shown.
    write(damaged, "samples", files["samples"])
    for what, census in (("cut", files["census"][:500]), ("not ours", b"x" * 43064)):
        write(damaged, "census", census)
        status, out, err = report("collapsed", damaged)
        if status != 1 or samples_in(out) != all_samples or err.count(b"census") < 1:
            bad.append("census %s: status %d, %d of %d samples, %r" %
                       (what, status, samples_in(out), all_samples, err))

    # Any file may be refused, but none may crash the command. Small files, so that changes hit used bytes.
    small = os.path.join(tmp, "small")
    subprocess.run([maker, small, "costs"], check=True)
    pid_small, = os.listdir(small)
    subprocess.run([os.path.join(makers, "make_calls"), os.path.join(tmp, "calls"), "values"], check=True)
    shutil.copy(os.path.join(tmp, "calls", "4242", "calls"), os.path.join(small, pid_small))
    subprocess.run([os.path.join(makers, "make_events"), os.path.join(tmp, "events")], check=True)
    shutil.copy(os.path.join(tmp, "events", "4242", "events"), os.path.join(small, pid_small))
    subprocess.run([os.path.join(makers, "make_instrument"), os.path.join(tmp, "instrument")], check=True)
    for name in ("instrument", "traced"):
        shutil.copy(os.path.join(tmp, "instrument", "4242", name), os.path.join(small, pid_small))
    base = {name: open(os.path.join(small, pid_small, name), "rb").read()
            for name in ("census", "samples", "calls", "events", "instrument", "traced")}
    whole_report = json.loads(report("json", small)[1])
    rows = [v for v in whole_report["values"] if v["name"] == "Shop.Orders.Add"]
    if (len(rows) != 40 or whole_report["traced_lost"] != 7 or sorted({v["depth"] for v in rows}) != [0, 1, 2, 3] or
            rows[0]["arguments"] != 'n = 0, s = "s0"' or rows[0]["after"] != "b = 2" or
            rows[1]["exception"] != "Shop.Wrong" or rows[1]["label"] != "added" or
            [h["swallowed"] for h in whole_report["helpers"]] != [2]):
        bad.append("traced calls that are whole: %r" % rows[:2])
    cells = len(base["calls"].rstrip(b"\0")) // CELL + 1 - HEADER // CELL
    used = struct.unpack_from("<I", base["samples"], HEADER + 8)[0]
    content = {"census": 2400, "samples": HEADER + used, "calls": HEADER + CELL * cells,
               **{name: len(base[name].rstrip(b"\0")) for name in ("events", "instrument", "traced")}}
    views = [[], ["--callers", "Inner"], ["--by-thread"], ["--thread", "main"], ["--depth", "2"], ["--runtime", "2"]]
    for seed in range(first_seed, first_seed + rounds):
        r = random.Random(seed)
        changed = r.choice([["samples"], ["samples"], ["census"], ["census", "samples"], ["calls"], ["calls"],
                            ["calls"], ["events"], ["events"], ["calls", "events", "census"],
                            ["instrument"], ["traced"], ["traced"], ["instrument", "traced"]])
        form, more = FORMATS[seed % len(FORMATS)], []
        if "instrument" in changed or "traced" in changed:  # other formats do not show these files
            form, more = r.choice(["text", "json"]), r.choice([[], ["--single", "1000"]])
        if "calls" in changed and form == "text":
            more = r.choice(views)
        elif "calls" in changed and form != "json":
            more = ["--data", "calls"]
        elif changed == ["samples"] and form not in ("chrome", "json"):
            more = r.choice([[], [], *(["--data", data] for data in ("alloc", "live", "native", "locks", "lock-owners"))])
        for name, original in base.items():
            with open(os.path.join(small, pid_small, name), "wb") as f:
                f.write(mutate(r, original, content[name], cells if name == "calls" else 0)
                        if name in changed else original)
        wrong = judge(form, small, changed, more)
        if wrong:
            bad.append("seed %d, %s %s, %s: %s" % (seed, form, " ".join(more), "+".join(changed), wrong))
            keep = os.environ.get("FUZZ_KEEP")
            if keep:
                shutil.copytree(small, os.path.join(keep, str(seed)), dirs_exist_ok=True)
    print("\n".join(bad[:20]))
    shutil.rmtree(tmp)
    return bool(bad)


sys.exit(main())
