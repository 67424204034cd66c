# SPDX-License-Identifier: MIT
"""pack_bomb.py - writes packed sessions that are small and unpack to much: pack_bomb.py PACK FILE zeros|text|holes|window

PACK is a packed session, made by sxsprof pack. zeros: its file "samples" has 3 GiB of zeros. text: it has 256 MiB of
equal lines. holes: FILE claims 1 TiB. window: PACK itself, in a frame whose window is 2 GiB, so that a reader which
believes it allocates that. Check sums are right.
"""
import ctypes, io, sys, tarfile, zlib

zstd = ctypes.CDLL("libzstd.so.1")
zstd.ZSTD_compressBound.restype = zstd.ZSTD_compress.restype = zstd.ZSTD_decompress.restype = ctypes.c_size_t
size_t = ctypes.c_size_t


def compress(data):
    out = ctypes.create_string_buffer(zstd.ZSTD_compressBound(size_t(len(data))))
    n = zstd.ZSTD_compress(out, size_t(len(out)), data, size_t(len(data)), 3)
    return out.raw[:n]


pack, path, kind = sys.argv[1:]
room = ctypes.create_string_buffer(1 << 26)
n = zstd.ZSTD_decompress(room, size_t(len(room)), whole := open(pack, "rb").read(), size_t(len(whole)))
plain = tarfile.open(fileobj=io.BytesIO(room.raw[:n]))
parts = [(m.name, plain.extractfile(m).read()) for m in plain]
if kind == "window":
    tar = room.raw[:n]
    parts_of = [tar[i:i + (1 << 17)] for i in range(0, n, 1 << 17)]
    with open(path, "wb") as to:
        to.write(b"\x28\xb5\x2f\xfd\x00" + bytes([31 - 10 << 3]))  # magic, no sizes, window of 2^31 bytes
        for i, part in enumerate(parts_of):  # as they are: type 0
            to.write((len(part) << 3 | (i + 1 == len(parts_of))).to_bytes(3, "little") + part)
    sys.exit()
block = bytes(1 << 24) if kind == "zeros" else b"the same line again and again\n\n\n" * (1 << 19)
blocks = {"zeros": 192, "text": 16, "holes": 0}[kind]
packed_block, total = compress(block), 0


def head(name, size):
    info = tarfile.TarInfo(name)
    info.size = size
    return info.tobuf(tarfile.PAX_FORMAT)


with open(path, "wb") as to:
    for name, data in parts:
        if name == "end":
            data = b"%08x\n" % total
        extra = blocks if name.endswith("/samples") else 0
        if extra:
            data += bytes(-len(data) % 512)
        size = len(data) + extra * len(block)
        total = zlib.crc32(data, zlib.crc32(name.encode() + b"\0" + size.to_bytes(8, "little"), total))
        to.write(compress(head(name, size) + data + bytes(-len(data) % 512)))
        for _ in range(extra):
            to.write(packed_block)
            if extra <= 16:  # no reader gets to the check sum of the others
                total = zlib.crc32(block, total)
    to.write(compress(bytes(1024)))
    if kind == "holes":
        to.truncate(1 << 40)
