# SPDX-License-Identifier: MIT
"""sessions.py - begins and ends sessions in a running process over the control socket.

usage: sessions.py sessions PID SXSPROF DIR N   N sessions with the tool sample, DIR/1, DIR/2...
       sessions.py detach PID SXSPROF           asks all runtimes to let the library go
       sessions.py stop PID SXSPROF             ends the session

Prints one line for each session. Status 0 if each began, has samples, ended, and left no thread and
no mapping of its files.
"""
import os
import re
import socket
import subprocess
import sys
import time

what, pid, sxsprof = sys.argv[1:4]
with open("/proc/%s/stat" % pid, encoding="utf-8", errors="replace") as stat:
    started = stat.read().rpartition(")")[2].split()[19]


def ask(verb, **values):
    """Sends one request and returns the answer's first line and its values."""
    text = "sxsprof 1 %s\n" % verb + "".join("%s=%s\n" % pair for pair in values.items()) + "\n"
    with socket.socket(socket.AF_UNIX) as s:
        s.settimeout(120)
        s.connect("\0sxsprof/%s/%s" % (pid, started))
        s.sendall(text.encode())
        answer = b""
        while not answer.endswith(b"\n\n"):
            more = s.recv(4096)
            if not more:
                break
            answer += more
    lines = answer.decode().splitlines()
    return lines[0], dict(line.split("=", 1) for line in lines[1:] if "=" in line)


def must(verb, **values):
    word, rest = ask(verb, **values)
    if word != "ok" or rest.get("why"):
        sys.exit("%s: %s %s" % (verb, word, rest.get("why")))


def own_threads():
    names = []
    for tid in os.listdir("/proc/%s/task" % pid):
        try:
            with open("/proc/%s/task/%s/comm" % (pid, tid), encoding="utf-8") as comm:
                names.append(comm.read().strip())
        except OSError:
            pass
    return sorted(n for n in names if n.startswith("sxsprof"))


def samples_of(folder):
    said = subprocess.run([sxsprof, "report", folder], capture_output=True, text=True, check=False)
    found = re.search(r"(\d+) samples", said.stdout)
    return int(found.group(1)) if found and said.returncode == 0 else 0


def mapped(folder):
    with open("/proc/%s/maps" % pid, encoding="utf-8") as maps:
        return [line for line in maps if folder in line]


def sessions(folder, number):
    before = own_threads()
    for i in range(1, number + 1):
        out = "%s/%d" % (folder, i)
        must("start", tools="sample", out=out, id="test%d" % i)
        deadline = time.time() + 120
        while samples_of(out) == 0 and time.time() < deadline:
            time.sleep(0.05)
        must("stop")
        print("%s: %d samples, threads %s" % (out, samples_of(out), own_threads()))
        if samples_of(out) == 0:
            sys.exit("no samples")
        if own_threads() != before:
            sys.exit("threads before: %s" % before)
        if mapped(folder):
            sys.exit("still mapped: %s" % mapped(folder))


if what == "sessions":
    sessions(sys.argv[4], int(sys.argv[5]))
else:
    must(what, **({"timeout_ms": "5000"} if what == "detach" else {}))
