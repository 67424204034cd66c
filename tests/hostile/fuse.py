#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""fuse.py - file systems of a hostile process: mounts, and answers to the kernel.

usage: fuse.py FOLDER [BACKING QUIET [NAME]]
Mounts a file system on FOLDER whose process takes every request and answers none, until it is ended. Who asks it waits in
the kernel and cannot be killed. With BACKING, it shows the files of that folder, to be read only, until the file QUIET
exists; files NAME can be opened, but never read. Prints "mounted" when it is there.
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
    """Yields (operation, number, node, body) of each request. INIT is answered already."""
    while True:
        request = os.read(device, 1 << 20)
        _, operation, number, node = struct.unpack_from("<IIQQ", request)
        if operation == INIT:  # version 7.31, nothing of its features
            answer(device, number, struct.pack("<IIIIHHIIHHI28x", 7, 31, 0, 0, 0, 0, 4096, 1, 0, 0, 0))
        yield operation, number, node, request[40:]


def answer(device, number, body=b"", error=0):
    os.write(device, struct.pack("<IiQ", 16 + len(body), -error, number) + body)


class Backing:
    """A folder whose files are shown. Nothing of it is kept by the kernel, so that each access is asked for."""

    def __init__(self, folder):
        self.paths = [None, folder]  # by node

    def attributes(self, node):
        st = os.stat(self.paths[node])
        return struct.pack("<QQQQQQIIIIIIIIII", node, st.st_size, st.st_blocks, 0, 0, 0, 0, 0, 0, st.st_mode, st.st_nlink,
                           st.st_uid, st.st_gid, 0, 4096, 0)

    def look_up(self, node, body):
        path = os.path.join(self.paths[node], body.rstrip(b"\0").decode())
        os.stat(path)
        if path not in self.paths:
            self.paths.append(path)
        child = self.paths.index(path)
        return struct.pack("<QQQQII", child, 0, 0, 0, 0, 0) + self.attributes(child)

    def list_folder(self, node, offset):
        names = [".", ".."] + sorted(os.listdir(self.paths[node]))
        out = b""
        for i, name in list(enumerate(names, 1))[offset:offset + 20]:
            entry = struct.pack("<QQII", 99, i, len(name), 0) + name.encode()
            out += entry + b"\0" * (-len(entry) % 8)
        return out

    def reply(self, operation, node, body):
        """Returns the answer to a request; raises OSError."""
        if operation == 1:  # LOOKUP
            return self.look_up(node, body)
        if operation == 3:  # GETATTR
            return struct.pack("<QII", 0, 0, 0) + self.attributes(node)
        if operation in (14, 27):  # OPEN, OPENDIR
            return struct.pack("<QII", 0, 0, 0)
        _, offset, size = struct.unpack_from("<QQI", body) if operation in (15, 28) else (0, 0, 0)
        if operation == 28:  # READDIR
            return self.list_folder(node, offset)
        if operation == 15:  # READ
            with open(self.paths[node], "rb") as f:
                f.seek(offset)
                return f.read(size)
        if operation == 17:  # STATFS
            return struct.pack("<QQQQQIIII24x", 1, 1, 1, 1, 1, 4096, 255, 4096, 0)
        if operation in (18, 25, 29):  # RELEASE, FLUSH, RELEASEDIR
            return b""
        raise OSError(38, "no such function")


def show(device, backing, quiet, never):
    for operation, number, node, body in requests(device):
        if operation == INIT:
            print("mounted", flush=True)
        elif operation == 15 and os.path.basename(backing.paths[node]) in never:  # READ
            pass
        elif operation not in (2, 42) and not os.path.exists(quiet):  # FORGET is not answered
            try:
                answer(device, number, backing.reply(operation, node, body))
            except OSError as e:
                answer(device, number, error=e.errno)


if __name__ == "__main__":
    mounted = mount(sys.argv[1], 0o40755 if sys.argv[2:] else 0o40777)
    if sys.argv[2:]:
        show(mounted, Backing(sys.argv[2]), sys.argv[3], sys.argv[4:])
    for asked, _, _, _ in requests(mounted):
        if asked == INIT:
            print("mounted", flush=True)
