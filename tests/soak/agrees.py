# SPDX-License-Identifier: MIT
"""agrees.py - checks that a sampled session agrees with the counts that its process printed.

usage: agrees.py SESSION LOG TEXT: the session folder, the output of runsxs, the output of sxsprof report.
Prints one line. Status 1 if they do not agree.
"""
import glob
import os
import re
import struct
import sys

HEADER, CHUNK = 4096, 262144
session, log, text = sys.argv[1:4]
said = open(log, encoding="utf-8", errors="replace").read()
report = open(text, encoding="utf-8").read()
wrong = []


def churn(name):
    found = re.search(r"churn:.* %s=([\d.]+)" % name, said)
    return float(found.group(1)) if found else 0.0


def records(data):
    """Yields (type, offset, size) of every record. Records of type 0 were reserved, not
    committed."""
    n_chunks, = struct.unpack_from("<I", data, 56)
    for i in range(n_chunks):
        at = HEADER + i * CHUNK
        used = min(struct.unpack_from("<I", data, at + 8)[0], CHUNK)
        off = 16
        while off + 8 <= used:
            size, mark, kind = struct.unpack_from("<IHH", data, at + off)
            if mark == 0 and size == 0:  # the unused end of a chunk
                break
            if mark != 0xA5C3 or size < 8 or off + size > CHUNK:
                wrong.append("chunk %d: no record at %d" % (i, off))
                break
            yield kind, at + off, size
            off += size


files = glob.glob(os.path.join(session, "*", "samples"))
if len(files) != 1:
    sys.exit("%d samples files instead of one" % len(files))
data = open(files[0], "rb").read()
mode, walker = struct.unpack_from("<HH", data, 20)
stops = mode == 2 or walker == 3  # signals also interrupt threads that use no CPU time
n_samples, n_dropped = struct.unpack_from("<QQ", data, 64)
seen = pending = 0
weight = 0
for kind, at, size in records(data):
    pending += kind == 0
    if kind == 1:
        seen += 1
        weight += struct.unpack_from("<Q", data, at + 16)[0]
weight /= 1e9
cpu = churn("cpu")
# Each thread may have had an unfinished sample when the process ended, and a record is written
# before it is counted.
if pending > 16 or abs(seen - n_samples) > 16:
    wrong.append("%d samples counted, %d there, %d uncommitted" % (n_samples, seen, pending))
if n_dropped:
    wrong.append("%d samples dropped" % n_dropped)
if seen < 100:
    wrong.append("only %d samples" % seen)
# In CPU mode each weight stands for used CPU time. The sum cannot be larger than the process's CPU
# time (with a tolerance of 5 %, and of a second for the first samples of threads). It can be
# smaller by the time of the library's own threads, of the start of the runtimes, and of threads too
# short to be found in time; the number of threads that the host started bounds the latter.
if mode == 1:
    least = 0.85 * cpu - 0.0007 * churn("threads") - 1.5
    if not least <= weight <= 1.05 * cpu + 1:
        wrong.append("samples stand for %.1f s of %.1f s of CPU time" % (weight, cpu))
for name in ("SpinUntilStopped", "sxsplugin_burn", "Stress.Faults."):
    if name not in report:
        wrong.append("no sample in %s" % name)
# The library interrupts a waiting thread once, when it finds the thread; nanosleep returns by
# itself each second. A signal for CPU time that arrives at the entry of a system call interrupts
# that call, which happens rarely.
waits = churn("waits")
eintr = {k: int(v) for k, v in re.findall(r"(sleep|poll|read|futex):(\d+)", said)}
chance = 0 if stops else eintr.get("sleep", 0)
if eintr.get("poll", 0) + eintr.get("futex", 0) > (5 * waits if stops else 1) or chance > 3:
    wrong.append("interrupted system calls: %s" % eintr)
if churn("rss") > 1 << 20:
    wrong.append("%d MiB resident" % (churn("rss") / 1024))
print("%d samples, %.1f s of %.1f s, %d threads, EINTR %s" %
      (seen, weight, cpu, churn("threads"), "/".join(str(v) for v in eintr.values())) if not wrong
      else "; ".join(wrong))
sys.exit(bool(wrong))
