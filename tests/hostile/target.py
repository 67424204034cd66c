#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""target.py - a process that seems to have a .NET runtime, and attacks the command that attaches to it.

usage: target.py LIBRARY READY MODE [ARGUMENT]
LIBRARY is mapped: a libcoreclr.so. READY is made when the process is ready.

MODE sleep        does nothing
     answer DIR   listens in DIR, answers who it is, and refuses the attach (concurrent collections)
     mute N       listens at N sockets DIR/port-I of DOTNET_DiagnosticPorts and answers nothing
     drip         answers at the usual place, a byte each 50 ms
     late [FILE]  answers who it is, and never answers the attach; writes to FILE that processors are busy, when asked
     hidden DIR   as late, in a mount namespace of its own in which DIR covers all folders for temporary files
     replace PATH waits for a socket at PATH, and puts a regular file in its place
"""
import ctypes
import mmap
import os
import socket
import struct
import sys
import threading
import time

library, ready, mode = sys.argv[1:4]
with open(library, "rb") as f:
    kept = mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ)
start = open("/proc/self/stat").read().rpartition(")")[2].split()[19]


def usual(folder):
    return "%s/dotnet-diagnostic-%d-%s-socket" % (folder, os.getpid(), start)


def listen(path):
    s = socket.socket(socket.AF_UNIX)
    s.bind(path)
    s.listen(50)
    return s


def text(value):
    units = (value + "\0").encode("utf-16-le")
    return struct.pack("<I", len(units) // 2) + units


def message(command, payload):
    return b"DOTNET_IPC_V1\0" + struct.pack("<HBBH", 20 + len(payload), 0xFF, command, 0) + payload


INFO = message(0, struct.pack("<Q", os.getpid()) + b"\7" * 16 + b"".join(
    text(x) for x in ("app", "Linux", "x64", "app", "8.0.29")))


def serve(s, attach):
    while True:
        c, _ = s.accept()
        request = c.recv(65536)
        if request[16:17] == b"\4":
            c.sendall(INFO)
        elif attach is not None:
            c.sendall(attach)
        else:
            if mode == "late" and sys.argv[4:]:
                with open(sys.argv[4], "w") as pressure:
                    pressure.write("some avg10=50.00 avg60=50.00 avg300=50.00 total=1000\n")
            time.sleep(1000)
        c.close()


def drip(s):
    while True:
        c, _ = s.accept()
        try:
            for byte in INFO:
                c.sendall(bytes([byte]))
                time.sleep(0.05)
        except OSError:
            pass
        c.close()


def is_ready():
    open(ready, "w").close()


if mode == "answer":
    s = listen(usual(sys.argv[4]))
    is_ready()
    serve(s, message(0xFF, struct.pack("<I", 0x80131376)))
elif mode == "late":
    s = listen(usual(os.environ["TMPDIR"]))
    is_ready()
    serve(s, None)
elif mode == "hidden":
    s = listen(usual(os.environ["TMPDIR"]))
    libc = ctypes.CDLL(None, use_errno=True)
    is_ready()
    for folder in (b"/dev/shm", b"/var/tmp", b"/tmp"):
        if libc.mount(sys.argv[4].encode(), folder, None, 4096, None) != 0:  # MS_BIND
            sys.exit(os.strerror(ctypes.get_errno()))
    serve(s, None)
elif mode == "drip":
    s = listen(usual(os.environ["TMPDIR"]))
    is_ready()
    drip(s)
elif mode == "mute":
    kept_open = [listen(p.split(",")[0]) for p in os.environ["DOTNET_DiagnosticPorts"].split(";")]
    is_ready()
    time.sleep(1000)
elif mode == "replace":
    path = sys.argv[4]
    is_ready()
    while not os.path.exists(path):
        time.sleep(0.01)
    time.sleep(0.1)
    os.rename(path, path + ".old")
    with open(path, "w") as f:
        f.write("own")
    time.sleep(1000)
else:
    is_ready()
    time.sleep(1000)
