#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""fuse.py - file systems of a hostile process: mounts, and answers to the kernel.

usage: fuse.py FOLDER
Mounts a file system on FOLDER whose process takes every request and answers none, until it is ended. Who asks it waits in
the kernel and cannot be killed. Prints "mounted" when it is there.
"""
import ctypes
import os
import struct
import sys

INIT = 26


def mount(folder, mode, flags=0):
    """Mounts a file system whose root has the mode MODE, and returns the descriptor of its requests."""
    device = os.open("/dev/fuse", os.O_RDWR)
    libc = ctypes.CDLL(None, use_errno=True)
    options = "fd=%d,rootmode=%o,user_id=%d,group_id=%d,allow_other" % (device, mode, os.getuid(), os.getgid())
    if libc.mount(b"hostile", folder.encode(), b"fuse.hostile", flags, options.encode()) != 0:
        sys.exit("mount: " + os.strerror(ctypes.get_errno()))
    return device


def requests(device):
    """Yields (operation, number, node) of each request. INIT is answered already."""
    while True:
        request = os.read(device, 1 << 20)
        _, operation, number, node = struct.unpack_from("<IIQQ", request)
        if operation == INIT:  # version 7.31, nothing of its features
            answer(device, number, struct.pack("<IIIIHHIIHHI28x", 7, 31, 0, 0, 0, 0, 4096, 1, 0, 0, 0))
        yield operation, number, node


def answer(device, number, body=b"", error=0):
    os.write(device, struct.pack("<IiQ", 16 + len(body), -error, number) + body)


if __name__ == "__main__":
    for asked, _, _ in requests(mount(sys.argv[1], 0o40777)):
        if asked == INIT:
            print("mounted", flush=True)
