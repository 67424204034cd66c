#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""mapper.py - a process that maps files as a hostile user would, for ps_*.sh.

usage: mapper.py READY KIND ARGUMENT...
It writes READY when everything is mapped, and sleeps.
  map FILE...         maps the files
  parts FILE NUMBER   maps one page of FILE so that it counts NUMBER mappings
  links FILE FOLDER NUMBER   makes hard links FOLDER/N/libcoreclr.so and maps each
  elf FILE            writes a sparse ELF of 4 GB whose symbol table fills it, and maps it
  absurd FILE NAME    writes an ELF with a header that lies as NAME says, and maps it
  fuse FOLDER         mounts a FUSE file system there, maps FOLDER/libcoreclr.so, and answers nothing from then on
"""
import ctypes
import mmap
import os
import struct
import sys
import time

import fuse

kept = []


def map_file(path, offset=0):
    with open(path, "rb") as f:
        kept.append(mmap.mmap(f.fileno(), 4096, prot=mmap.PROT_READ, flags=mmap.MAP_SHARED, offset=offset))


def program_header(kind, offset, address, size):
    return struct.pack("<IIQQQQQQ", kind, 6, offset, address, address, size, size, 4096)


def elf_header(n_programs, sections_at, n_sections):
    return struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\x02\x01\x01", 3, 62, 1, 0, 64, sections_at, 0, 64, 56,
                       n_programs, 64, n_sections, 0)


def section(kind, offset, size, link, entry):
    return struct.pack("<IIQQQQIIQQ", 0, kind, 2, offset, offset, size, link, 1, 8, entry)


def write_elf(path, size, dynamic):
    """Writes an ELF file of which everything is a hole but its headers and its dynamic section."""
    with open(path, "wb") as f:
        f.truncate(size)
        entries = b"".join(struct.pack("<QQ", tag, value) for tag, value in dynamic)
        f.write(elf_header(2, 4096, 3))
        f.write(program_header(1, 0, 0, size) + program_header(2, 8192, 8192, len(entries)))
        f.seek(4096)
        f.write(section(0, 0, 0, 0, 0) + section(11, 1 << 16, (size - (1 << 17)) // 24 * 24, 2, 24) + section(3, 12288, 4096, 0, 0))
        f.seek(8192)
        f.write(entries)


def sysv_loop(path):
    """Writes a file whose hash table has one chain that has no end."""
    write_elf(path, 1 << 20, [(5, 12288), (6, 0x9000), (4, 0x10000), (0, 0)])
    with open(path, "r+b") as f:
        f.seek(0x10000)
        f.write(struct.pack("<IIIII", 1, 2, 1, 0, 1))


def gnu_chain(path):
    """Writes a file whose GNU hash table has one chain of all zeros: it ends nowhere."""
    write_elf(path, 4 << 30, [(5, 12288), (6, 0x9000), (0x6ffffef5, 0x10000), (0, 0)])
    with open(path, "r+b") as f:
        f.seek(0x10000)
        f.write(struct.pack("<IIIIQI", 1, 1, 1, 0, 0, 1))


ABSURD = {
    "phnum": lambda p: open(p, "wb").write(elf_header(65535, 1 << 62, 65535)),
    "offsets": lambda p: open(p, "wb").write(
        elf_header(2, 0, 0) + program_header(1, 1 << 63, 0, (1 << 64) - 1) + program_header(2, (1 << 63) - 8, 0, 4096)),
    "loop": sysv_loop,
    "chain": gnu_chain,
    "dynamic": lambda p: write_elf(p, 4 << 30, [(1, 1)] * 100000),
}


def no_answer(device, path):
    """Plays a file system in which there is one file, whose content is never read."""
    file, size = 2, 64 << 20
    attributes = struct.pack("<QQQQQQIIIIIIIIII", file, size, 8, 0, 0, 0, 0, 0, 0, 0o100644, 1, os.getuid(), os.getgid(), 0,
                             4096, 0)
    root = struct.pack("<QQQQQQIIIIIIIIII", 1, 0, 0, 0, 0, 0, 0, 0, 0, 0o040755, 2, os.getuid(), os.getgid(), 0, 4096, 0)
    for operation, number, node, _ in fuse.requests(device):
        if operation == 1:  # LOOKUP
            fuse.answer(device, number, struct.pack("<QQQQII", file, 0, 3600, 3600, 0, 0) + attributes)
        elif operation == 3:  # GETATTR
            fuse.answer(device, number, struct.pack("<QII", 3600, 0, 0) + (root if node == 1 else attributes))
        elif operation in (14, 27):  # OPEN, OPENDIR
            if not os.path.exists(path + ".quiet"):
                fuse.answer(device, number, struct.pack("<QII", 1, 2, 0))
        elif operation in (18, 25, 29):  # RELEASE, FLUSH, RELEASEDIR
            fuse.answer(device, number)
        elif operation not in (2, 15, 42, fuse.INIT):  # FORGET and READ are not answered
            fuse.answer(device, number, error=38)  # no such function


def map_on_fuse(ready, folder):
    device = fuse.mount(folder, 0o40000, 6)
    # The server is a process of its own: the kernel ends all requests when it is gone, whatever this one waits for.
    if os.fork() == 0:
        ctypes.CDLL(None).prctl(1, 9)  # PR_SET_PDEATHSIG, SIGKILL
        no_answer(device, ready)
    os.close(device)
    map_file(folder + "/libcoreclr.so")


def main():
    ready, kind, arguments = sys.argv[1], sys.argv[2], sys.argv[3:]
    if kind == "map":
        for path in arguments:
            map_file(path)
    elif kind == "parts":
        libc = ctypes.CDLL(None, use_errno=True)
        libc.mmap.restype = ctypes.c_void_p
        libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
        fd = os.open(arguments[0], os.O_RDONLY)
        for i in range(int(arguments[1])):
            libc.mmap(None, 4096, 1, 1, fd, 0)
    elif kind == "links":
        for i in range(int(arguments[2])):
            os.mkdir("%s/%d" % (arguments[1], i))
            path = "%s/%d/libcoreclr.so" % (arguments[1], i)
            os.link(arguments[0], path)
            map_file(path)
    elif kind == "elf":
        write_elf(arguments[0], 4 << 30, [(5, 12288), (6, 1 << 16), (0, 0)])
        map_file(arguments[0])
    elif kind == "absurd":
        ABSURD[arguments[1]](arguments[0])
        if os.stat(arguments[0]).st_size < 8192:
            os.truncate(arguments[0], 8192)
        map_file(arguments[0])
    elif kind == "fuse":
        map_on_fuse(ready, arguments[0])
    open(ready, "w").close()
    time.sleep(600)


main()
