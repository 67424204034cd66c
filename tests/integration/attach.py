# SPDX-License-Identifier: MIT
"""attach.py - asks a running CLR through its diagnostics port to attach a profiler.

usage: attach.py PID CLSID LIBRARY [DATA]

DATA: a file with the client data of InitializeForAttach.
The port is the Unix socket $TMPDIR/dotnet-diagnostic-PID-START-socket. The message is command 1
(attach) of command set 3 (profiler). Prints the HRESULT of the answer. Status 0 when the HRESULT is
S_OK.
"""
import os
import socket
import struct
import sys
import time
import uuid

pid, clsid, library = sys.argv[1:4]
data = open(sys.argv[4], "rb").read() if len(sys.argv) > 4 else b""
# START is the start time of the process. Sockets of killed processes stay, and PIDs are used again.
with open("/proc/%s/stat" % pid, encoding="utf-8", errors="replace") as stat:
    started = stat.read().rpartition(")")[2].split()[19]
port = os.path.join(os.environ.get("TMPDIR", "/tmp"), "dotnet-diagnostic-%s-%s-socket" % (pid, started))
deadline = time.time() + 120
while not os.path.exists(port) and time.time() < deadline:
    time.sleep(0.05)
path = (library + "\0").encode("utf-16-le")
payload = struct.pack("<I", 100000) + uuid.UUID(clsid).bytes_le
payload += struct.pack("<I", len(path) // 2) + path + struct.pack("<I", len(data)) + data
header = b"DOTNET_IPC_V1\0" + struct.pack("<HBBH", 20 + len(payload), 3, 1, 0)
with socket.socket(socket.AF_UNIX) as s:
    s.settimeout(120)
    s.connect(port)
    s.sendall(header + payload)
    answer = s.recv(4096)
hresult = struct.unpack_from("<I", answer, 20)[0] if len(answer) >= 24 else 0xFFFFFFFF
print("0x%08x" % hresult)
sys.exit(0 if answer[16] == 0xFF and answer[17] == 0 and hresult == 0 else 1)
