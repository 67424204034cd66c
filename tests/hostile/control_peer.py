# SPDX-License-Identifier: MIT
"""control_peer.py - what attackers of control sockets do: clients of a process's socket, and sockets that take its name.

    control_peer.py ask PID TEXT      send a request (TEXT has \\n), print the answer
    control_peer.py serve PID N HOW   take names 0 to N-1 of the process's socket, print "taken", and do HOW until killed:
                                      full: let the queue of connections fill up, and accept none

PID is that of the process as it sees itself; the names are those of the network that this command runs in."""
import socket
import sys
import time


def start_time(pid):
    with open(f"/proc/{pid}/stat") as f:
        return f.read().rsplit(")", 1)[1].split()[19]


def inside(pid):
    """The PID as the process itself sees it."""
    with open(f"/proc/{pid}/status") as f:
        return next(line for line in f if line.startswith("NSpid:")).split()[-1]


def address(pid, number=0):
    return f"\0sxsprof/{inside(pid)}/{start_time(pid)}" + (f"/{number}" if number else "")


def ask(pid, text):
    s = socket.socket(socket.AF_UNIX)
    try:
        s.connect(address(pid))
    except ConnectionRefusedError:
        print("no socket")
        return
    s.settimeout(30)
    s.sendall(text.replace("\\n", "\n").encode())
    got = b""
    while not got.endswith(b"\n\n"):
        more = s.recv(65536)
        if not more:
            break
        got += more
    print(got.decode(), end="")


def serve(pid, n, how):
    sockets = []
    for i in range(int(n)):
        s = socket.socket(socket.AF_UNIX)
        s.bind(address(pid, i))
        s.listen(0)
        sockets.append(s)
    if how == "full":
        for i in range(int(n)):
            while True:
                c = socket.socket(socket.AF_UNIX)
                c.setblocking(False)
                try:
                    c.connect(address(pid, i))
                except BlockingIOError:
                    break
                sockets.append(c)
    print("taken", flush=True)
    time.sleep(1000)


globals()[sys.argv[1]](*sys.argv[2:])
