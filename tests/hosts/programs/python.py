# SPDX-License-Identifier: MIT
"""A CPython program that hosts runtimes by ctypes. Uses faulthandler (which handles SIGSEGV on an
alternate stack), signals and threads."""
import ctypes
import faulthandler
import os
import signal
import sys
import threading

faulthandler.enable()
hosting = ctypes.CDLL(os.path.join(os.environ["HOSTS_BUILD"], "hosts", "libhosting.so"))
received = []
wrong = []


def claim(holds, text):
    os.write(1, ("%s: %s\n" % ("right" if holds else "WRONG", text)).encode())
    if not holds:
        wrong.append(text)


def work_on():
    claim(hosting.hosting_work(1) == 0, "work on a thread of Python")


signal.signal(signal.SIGUSR1, lambda number, frame: received.append(number))
hosting.hosting_start()
claim(hosting.hosting_work(1) == 0, "work")
for _ in range(20):
    os.kill(os.getpid(), signal.SIGUSR1)
claim(len(received) == 20, "%d signals of Python's own" % len(received))
threads = [threading.Thread(target=work_on) for _ in range(3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
claim(faulthandler.is_enabled(), "faulthandler is still there")
child = os.fork()
if child == 0:
    os.write(1, b"a child of Python\n")
    os._exit(3)
claim(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 3, "a child of Python")
status = hosting.hosting_end()
sys.stdout.flush()
os._exit(1 if wrong or status else 0)
