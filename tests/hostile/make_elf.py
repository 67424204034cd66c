# SPDX-License-Identifier: MIT
"""make_elf.py - makes ELF files that name other files, or have more symbols than any memory.

make_elf.py link FROM TO NAME [DEBUG]   a copy without symbols, whose debuglink is NAME with the check sum of DEBUG
make_elf.py altlink FROM TO NAME        a copy whose supplementary file is NAME
make_elf.py sparse TO                   a file of 4 GB, most of it a hole, whose symbol table is the hole
"""
import os
import struct
import subprocess
import sys
import tempfile
import zlib


def add_section(source, to, name, contents, *options):
    with tempfile.NamedTemporaryFile() as file:
        file.write(contents)
        file.flush()
        subprocess.run(["objcopy", *options, "--add-section", f"{name}={file.name}", source, to], check=True)


def link(source, to, name, debug=None):
    total = zlib.crc32(open(debug, "rb").read()) if debug else 1
    text = name.encode() + b"\0"
    text += b"\0" * (-len(text) % 4)
    add_section(source, to, ".gnu_debuglink", text + struct.pack("<I", total), "--strip-all")


def altlink(source, to, name):
    add_section(source, to, ".gnu_debugaltlink", name.encode() + b"\0" + bytes(range(20)))


def sparse(to):
    """Sections: none, .symtab (the hole), .strtab, .shstrtab, and one segment."""
    names = b"\0.symtab\0.strtab\0.shstrtab\0"
    hole, size = 0x2000, 24 * 0xA000000
    sections = [(0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
                (1, 2, 0, 0, hole, size, 2, 1, 8, 24),
                (9, 3, 0, 0, 0x1800, 16, 0, 0, 1, 0),
                (17, 3, 0, 0, 0x1900, len(names), 0, 0, 1, 0)]
    head = b"\x7fELF\2\1\1" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, 64, 0x1000, 0, 64, 56, 1, 64, 4, 3)
    segment = struct.pack("<IIQQQQQQ", 1, 5, 0, 0, 0, 0x100000, 0x100000, 0x1000)
    with open(to, "wb") as file:
        file.write(head + segment)
        file.seek(0x1000)
        for s in sections:
            file.write(struct.pack("<IIQQQQIIQQ", *s))
        file.seek(0x1800)
        file.write(b"\0name\0")
        file.seek(0x1900)
        file.write(names)
        file.truncate(hole + size)
    os.chmod(to, 0o644)


globals()[sys.argv[1]](*sys.argv[2:])
