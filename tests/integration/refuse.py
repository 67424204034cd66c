# SPDX-License-Identifier: MIT
"""Runs a command under a seccomp filter that refuses system calls with EPERM, as sandboxes do (x86-64).

    refuse.py CALL[,CALL...] COMMAND...
"""
import ctypes
import os
import struct
import sys

NUMBERS = {"timer_create": 222, "rt_tgsigqueueinfo": 297, "perf_event_open": 298, "tgkill": 234}
PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS, FILTER = 22, 38, 2
LOAD, EQUAL, RETURN = 0x20, 0x15, 0x06
ALLOW, REFUSE = 0x7fff0000, 0x00050000 | 1

calls = [NUMBERS[name] for name in sys.argv[1].split(",")]
rules = [(LOAD, 0, 0, 0)]
for call in calls:
    rules += [(EQUAL, 0, 1, call), (RETURN, 0, 0, REFUSE)]
rules.append((RETURN, 0, 0, ALLOW))
code = ctypes.create_string_buffer(b"".join(struct.pack("<HBBI", *rule) for rule in rules))
program = ctypes.create_string_buffer(struct.pack("<HxxxxxxQ", len(rules), ctypes.addressof(code)))
libc = ctypes.CDLL(None, use_errno=True)
for arguments in (PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), (PR_SET_SECCOMP, FILTER, ctypes.addressof(program), 0, 0):
    if libc.prctl(*(ctypes.c_ulong(a) for a in arguments)):
        sys.exit("refuse.py: prctl: " + os.strerror(ctypes.get_errno()))
os.execvp(sys.argv[2], sys.argv[2:])
