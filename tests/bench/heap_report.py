# SPDX-License-Identifier: MIT
"""heap_report.py - measures sxsprof heap on a snapshot of many objects: time and peak memory of each format.

usage: tests/bench/heap_report.py [OBJECTS]      (10000000)
BUILD: build folder. Prints a table.

The objects are those of a service: a dictionary of sessions, each with a list of items with strings.
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("BUILD", "build"))


def measure(command):
    """Returns seconds, seconds of CPU time, and bytes at the peak of a command."""
    began = time.monotonic()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    if status:
        sys.exit(f"{command}: status {status}")
    return time.monotonic() - began, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024


def main():
    objects = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000
    with tempfile.TemporaryDirectory(prefix="sxsprof-bench-") as folder:
        make = pathlib.Path(folder, "make_heap")
        subprocess.run(["cc", "-std=gnu11", "-D_GNU_SOURCE", "-O2", "-I.", "tests/profile/make_heap.c", "-o", make],
                       cwd=ROOT, check=True)
        session = pathlib.Path(folder, "session")
        subprocess.run([make, session, "1", "web", str(objects)], check=True)
        size = pathlib.Path(session, "4242", "heap-1").stat().st_size
        print(f"{objects} objects, {size / 1e6:.0f} MB in the file ({size / objects:.1f} bytes each)\n")
        print("| Format | Time | CPU time | Peak memory | Bytes per object |")
        print("| --- | --- | --- | --- | --- |")
        for arguments in (["text"], ["json"], ["html"], ["heapsnapshot"], ["text", "--type", "Shop.Item"],
                          ["text", "--diff", "1"]):
            seconds, cpu, peak = measure([ROOT / BUILD / "sxsprof", "heap", "--format", *arguments, session])
            print(f"| {' '.join(arguments)} | {seconds:.1f} s | {cpu:.1f} s | {peak / 1e6:.0f} MB "
                  f"| {peak / objects:.0f} |")


main()
