# SPDX-License-Identifier: MIT
"""hostile_packs.py - writes damaged and hostile packed sessions: hostile_packs.py PACK DIR

PACK is an undamaged packed session, made by sxsprof pack. Each file in DIR is named NUMBER-REASON, where
REASON has words that the refusal must contain, joined by "_". NUMBER-or-the-same has one changed bit: if the
bit has no meaning, as in the size of zstd's window, the report is that of the undamaged session.
"""
import ctypes, io, os, sys, tarfile, zlib

zstd = ctypes.CDLL("libzstd.so.1")
zstd.ZSTD_compressBound.restype = zstd.ZSTD_compress.restype = ctypes.c_size_t
zstd.ZSTD_decompress.restype = ctypes.c_size_t
size_t = ctypes.c_size_t


def compress(data):
    out = ctypes.create_string_buffer(zstd.ZSTD_compressBound(size_t(len(data))))
    n = zstd.ZSTD_compress(out, size_t(len(out)), data, size_t(len(data)), 3)
    return out.raw[:n]


def archive(entries):
    """entries: (TarInfo, bytes). The last entry "end" gets the right check sum if it has no bytes."""
    to, total = io.BytesIO(), 0
    tar = tarfile.open(fileobj=to, mode="w", format=tarfile.PAX_FORMAT)
    for info, data in entries:
        if info.name == "end" and data is None:
            data = b"%08x\n" % total
        if info.isreg() and info.size == 0:
            info.size = len(data)
        total = zlib.crc32(data, zlib.crc32(info.name.encode() + b"\0" + info.size.to_bytes(8, "little"), total))
        header = info.tobuf(tarfile.PAX_FORMAT)
        tar.fileobj.write(header)
        tar.fileobj.write(data + b"\0" * (-len(data) % 512))
    tar.fileobj.write(b"\0" * 1024)
    return compress(to.getvalue())


def entry(name, data=b"", kind=tarfile.REGTYPE, link="", size=0):
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.size = kind, link, size
    return info, data


pack, folder = sys.argv[1:]
whole = open(pack, "rb").read()
room = ctypes.create_string_buffer(1 << 26)
n = zstd.ZSTD_decompress(room, size_t(len(room)), whole, size_t(len(whole)))
plain = tarfile.open(fileobj=io.BytesIO(room.raw[:n]))
parts = {m.name: plain.extractfile(m).read() for m in plain}
census = next(k for k in parts if k.endswith("/census"))
process = census.split("/")[0]
head, files = entry("sxsprof-pack", b"1\n"), [entry(k, v) for k, v in parts.items() if "/" in k]
names, end = entry("names", parts["names"]), entry("end", None)
count = 0


def write(reason, data):
    global count
    count += 1
    with open(f"{folder}/{count:03}-{reason.replace(' ', '_')}", "wb") as to:
        to.write(data)


def with_extra(reason, *extra):
    write(reason, archive([head] + files + list(extra) + [names, end]))


os.mkdir(f"{folder}/unpacked")  # unpacked like tar unpacks it
for name, data in parts.items():
    os.makedirs(os.path.dirname(f"{folder}/unpacked/{name}"), exist_ok=True)
    with open(f"{folder}/unpacked/{name}", "wb") as to:
        to.write(data)
with open(f"{folder}/whole", "wb") as to:  # an undamaged archive, made by archive()
    to.write(archive([head] + files + [names, end]))
not_of_session = "is not a file of a packed session"
for name in ("../evil", "/tmp/evil-sxsprof", f"{process}/../../evil", f"{process}/evil", "evil", "../4242/census",
             f"{process}/census/x", f"./{census}x", "4242/../census", "4242", f"{process}-x/census", "names/x",
             f"{process}//census"):
    with_extra(not_of_session, entry(name, b"evil"))
for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE, tarfile.DIRTYPE):
    with_extra("not a regular file", entry("77/samples", b"", kind, "/tmp" if kind == tarfile.SYMTYPE else census))
with_extra("not a regular file", entry("77", b"", tarfile.SYMTYPE, "/tmp"), entry("77/samples", b"evil"))
with_extra("twice", entry(census, parts[census]))
with_extra("expected at most", entry("77/samples", b"", size=1 << 50))
with_extra("expected at most", entry("77/samples", b"", size=(1 << 63) - 1))
with_extra("its check sum is wrong", entry("end", b"00000000\n"))
write("its check sum is wrong", archive([head] + files + [names, entry("end", b"00000000\n")]))
write("it ends too early", archive([head] + files + [names]))
write("it ends too early", archive([head]))
write(not_of_session, archive([head] + files + [end]))
write(not_of_session, archive([head] + files + [names, names, end]))
write(not_of_session, archive([head] + files + [names, end, end]))
write(not_of_session, archive([head] + [names] + files + [end]))
write("not a packed session", archive(files + [names, end]))
write("not a packed session", archive([]))
write("not a packed session", compress(b"hello" * 1000))
write("not a packed session", b"")
write("not a packed session", b"runtime  version\n" * 100)
write("version 2 of the format expected version 1", archive([entry("sxsprof-pack", b"2\n")] + files + [names, end]))
write("its names damaged", archive([head] + files + [entry("names", b"\x08\x01\xff\xff"), end]))
write("its names a format that this version does not read", archive([head] + files + [entry("names", b"\x08\x02"), end]))
for i in range(24):
    write("", whole[:len(whole) * i // 24])
for i in range(40):
    at = 4 + (len(whole) - 5) * i // 39
    write("or-the-same", whole[:at] + bytes([whole[at] ^ 1 << i % 8]) + whole[at + 1:])
