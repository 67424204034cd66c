# SPDX-License-Identifier: MIT
"""Does a sampled session agree with what its process says it did? One line; status 1 if it does not.

agrees.py SESSION LOG TEXT: the session folder, what runsxs printed, what sxsprof report printed.
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
    """Every record: type, offset, size; type 0 was reserved and not committed."""
    n_chunks, = struct.unpack_from("<I", data, 56)
    for i in range(n_chunks):
        at = HEADER + i * CHUNK
        used = min(struct.unpack_from("<I", data, at + 8)[0], CHUNK)
        off = 16
        while off + 8 <= used:
            size, mark, kind = struct.unpack_from("<IHH", data, at + off)
            if mark == 0 and size == 0:  # the rest of a chunk that no record fitted into
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
stops = mode == 2 or walker == 3  # threads get signals because of others' looks, not of their own time
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
# In flight when the process ended: a thread each, and the record may be there before its count.
if pending > 16 or abs(seen - n_samples) > 16:
    wrong.append("%d samples counted, %d there, %d uncommitted" % (n_samples, seen, pending))
if n_dropped:
    wrong.append("%d samples dropped" % n_dropped)
if seen < 100:
    wrong.append("only %d samples" % seen)
# CPU mode: each weight stands for CPU time somebody used. More than there was cannot be (5 % and a
# second for the interval a thread's first sample stands for). Less: the library's own threads, the runtimes' start, and
# threads too short to be found in time, which are bounded by what the host says it started.
if mode == 1:
    least = 0.85 * cpu - 0.0007 * churn("threads") - 1.5
    if not least <= weight <= 1.05 * cpu + 1:
        wrong.append("samples stand for %.1f s of %.1f s of CPU time" % (weight, cpu))
for name in ("SpinUntilStopped", "sxsplugin_burn", "Stress.Faults."):
    if name not in report:
        wrong.append("no sample in %s" % name)
# A thread that waits is disturbed once when it is met; nanosleep wakes up by itself each second. A
# signal for CPU time that comes on the way into a system call is seen there: by chance, now and then.
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
