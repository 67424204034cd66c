# SPDX-License-Identifier: MIT
"""control_clients.py - clients of a process's control socket that behave badly, and crowds of them.

    control_clients.py PID KIND [N]

Prints what is wrong; status 1 if anything is. A client is stuck if it gets no answer within a minute."""
import os
import random
import signal
import socket
import sys
import threading
import time

PID = int(sys.argv[1])
STATUS = b"sxsprof 1 status\n\n"
LIMIT = 60


def address(number=0):
    with open(f"/proc/{PID}/stat") as f:
        start = f.read().rsplit(")", 1)[1].split()[19]
    return f"\0sxsprof/{PID}/{start}" + (f"/{number}" if number else "")


def join():
    s = socket.socket(socket.AF_UNIX)
    s.connect(address())  # waits while the kernel's queue is full
    s.settimeout(LIMIT)
    return s


def send(s, data):
    """Sends as much as the other side takes before it closes."""
    try:
        s.sendall(data)
    except (BrokenPipeError, ConnectionResetError):
        pass


def answer(s):
    """The bytes of one answer, or all until the connection was closed."""
    got = b""
    while not got.endswith(b"\n\n"):
        try:
            more = s.recv(65536)
        except ConnectionResetError:
            break
        if not more:
            break
        got += more
    return got


def must(claim, what):
    if not claim:
        print(what)
        sys.exit(1)


def garbage(n):
    """Bytes of every kind: an answer "error", or the connection is closed."""
    rng = random.Random(7)
    for i in range(n):
        data = rng.randbytes(rng.randrange(1, 40000)) if i % 3 else b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
        if i % 5 == 0:
            data = b"sxsprof 1 start\n" + b"tools=" + b"x" * rng.randrange(20000) + b"\n\n"
        with join() as s:
            send(s, data)
            s.shutdown(socket.SHUT_WR)
            got = answer(s)
            must(got == b"" or got.startswith(b"error\n"), f"{data[:40]} is answered by {got[:80]}")


def half(n):
    """Requests that are cut short, and silence: the connections are closed, and others are served."""
    clients = [join() for _ in range(n)]
    for i, s in enumerate(clients):
        send(s, STATUS[:i % len(STATUS)])
    with join() as s:
        send(s, STATUS)
        must(answer(s).startswith(b"ok\n"), "no status while others are silent")
    for s in clients:
        must(answer(s) == b"", "a cut request is answered")


def slow(n):
    """Clients that ask without end and never read: closed, and others are served."""
    clients = [join() for _ in range(n)]
    for s in clients:
        s.setblocking(False)
        try:
            while True:
                s.send(STATUS * 100)
        except BlockingIOError:
            pass
        except (BrokenPipeError, ConnectionResetError):
            pass
    with join() as s:
        send(s, STATUS)
        must(answer(s).startswith(b"ok\n"), "no status while others do not read")
    for s in clients:
        s.settimeout(LIMIT)
        while answer(s).startswith(b"ok\n"):
            pass


def crowd(n):
    """@n clients at once, each with several requests."""
    failed = []

    def one():
        left = 3
        try:
            while left:
                with join() as s:
                    while left:
                        send(s, STATUS)
                        got = answer(s)
                        if not got:  # it was silent for a moment, and others waited: it comes again
                            break
                        must_be_ok(got)
                        left -= 1
        except OSError as e:
            failed.append(e)

    def must_be_ok(got):
        if not got.startswith(b"ok\n"):
            failed.append(got)

    threading.stack_size(256 * 1024)
    threads = [threading.Thread(target=one) for _ in range(n)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    must(not failed, f"{len(failed)} of {n} clients failed: {failed[:1]}")


def killed(n):
    """Clients that are killed at any moment of a request."""
    rng = random.Random(11)
    requests = [STATUS, b"sxsprof 1 stop\n\n", b"sxsprof 1 snapshot\n\n", STATUS * 1000, STATUS[:9]]
    for i in range(n):
        child = os.fork()
        if not child:
            s = join()
            send(s, requests[i % len(requests)])
            s.recv(100)
            os._exit(0)
        time.sleep(rng.random() * 0.003)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def stranger(_):
    """Another user: refused, and nothing is done."""
    with join() as s:
        send(s, b"sxsprof 1 stop\n\n")
        got = answer(s)
        must(got == b"error\nwhy=you are neither the user of this process nor root\n\n", f"answer: {got}")


def squat(n):
    """Takes the first @n names of the process's socket, answers each client with a lie, until killed."""
    listeners = []
    for i in range(n):
        s = socket.socket(socket.AF_UNIX)
        s.bind(address(i))
        s.listen()
        listeners.append(s)
    print("taken", flush=True)

    def lie(s):
        while True:
            c, _ = s.accept()
            send(c, b"ok\nphase=none\nversion=lie\n\n")
            data = c.recv(100)
            if data:
                print("received", data, flush=True)

    for s in listeners:
        threading.Thread(target=lie, args=(s,)).start()


globals()[sys.argv[2]](int(sys.argv[3]) if len(sys.argv) > 3 else 1)
