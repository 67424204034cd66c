# SPDX-License-Identifier: MIT
"""Compares the system calls of a command with the table between the marks "system calls" of docs/internals/security.md.

    system_calls.py PAGE FOLDER/PREFIX NAME=PATH...

reads the outputs of strace -ff -y -o FOLDER/PREFIX. NAME=PATH: paths that begin with PATH are written NAME in the table.
Prints the calls that no row accounts for, and the rows' counts; status 1 when there is such a call.
PARENT is each folder on the way to OUT. In a row's path, "#" is a number, "*" any text without a slash, "**" any
text. The call "reach" is no system call: it
is the file that a call has opened if its path was a link, one of the kernel (/proc/self/fd/5) or of a file system.
"""
import collections
import glob
import os
import re
import sys

KINDS = {
    "make": "mkdir mkdirat mknod mknodat symlink symlinkat link linkat",
    "remove": "unlink unlinkat rmdir",
    "rename": "rename renameat renameat2",
    "connect": "connect",
    "bind": "bind",
    "own": "chown fchown lchown fchownat",
    "mode": "chmod fchmod fchmodat",
    "become": "setuid setgid setreuid setregid setresuid setresgid setgroups",
    "join": "setns unshare",
    "signal": "kill tkill tgkill pidfd_send_signal",
    "execute": "execve execveat",
    "times": "utimensat utimes",
    "cut": "truncate ftruncate",
    "trace": "ptrace process_vm_readv process_vm_writev",
    "mount": "mount umount2 chroot pivot_root",
}
KIND_OF = {call: kind for kind, calls in KINDS.items() for call in calls.split()}
TRACED = "open,openat,openat2,clone,clone3,fork,vfork," + ",".join(KIND_OF)


def pattern(text):
    parts = re.split(r"(\*\*|\*|#)", text)
    return re.compile("".join({"**": ".*", "*": "[^/]*", "#": r"\d+"}.get(p, re.escape(p)) for p in parts) + r"\Z", re.S)


def read_rows(page):
    text = open(page, encoding="utf-8").read()
    text = text[text.index("<!-- system calls -->"):text.index("<!-- /system calls -->")]
    rows = []
    for line in text.splitlines():
        cells = [c.strip() for c in line.strip("| ").split(" | ")]
        if len(cells) != 4 or cells[0] in ("Call", "---"):
            continue
        paths = re.findall(r"`([^`]*)`", cells[2])
        rows.append((set(cells[0].split(", ")), set(cells[1].split(", ")), [pattern(p) for p in paths], line))
    return rows


def unquote(text):
    return re.sub(r"\\(\d{1,3}|x[0-9a-f]{2}|.)", lambda m: {"n": "\\n", "t": "\\t"}.get(m[1], m[0]), text)


def descriptor_path(text):
    """The path in 5</proc/1>, or None."""
    m = re.match(r"-?\w+(?:<(.*?)>)?(?:\(deleted\))?$", text.strip(), re.S)
    return m[1] if m else None


def address_of(args, opened):
    """The path or the abstract name of a Unix socket. The names of descriptors become those of what they have opened."""
    m = re.search(r'sun_path=(@?)"((?:\\.|[^"\\])*)"', args)
    if not m:
        return re.sub(r".*(AF_\w+).*", r"\1", args)
    path = m[1] + unquote(m[2])
    return re.sub(r"\A/proc/self/fd/(\d+)", lambda fd: opened.get(fd[1], fd[0]), path)


def path_of(call, args, opened):
    """What a call acts on: folder and name, a descriptor's path, an address, a number."""
    if call in ("connect", "bind"):
        return address_of(args, opened)
    at = re.match(r'(AT_FDCWD(?:<[^>]*>)?|\d+<[^>]*>), "((?:\\.|[^"\\])*)"', args)
    if at:
        name, folder = unquote(at[2]), descriptor_path(at[1]) or ""
        if name.startswith("/") or (at[1].startswith("AT_FDCWD") and not folder):
            return name
        return (folder.rstrip("/") + "/" + name) if name else folder
    quoted = re.match(r'"((?:\\.|[^"\\])*)"', args)
    if quoted:
        return unquote(quoted[1])
    fd = re.match(r"\d+<([^>]*)>", args)
    return fd[1] if fd else args


def kind_of(call, args):
    if not call.startswith("open"):
        return KIND_OF.get(call)
    if "O_PATH" in args:
        return "open path"
    return "open write" if re.search(r"O_(WRONLY|RDWR|CREAT|TRUNC|TMPFILE)", args) else "open read"


def calls_of(prefix):
    """Yields (kind, user, path) of all processes."""
    started = {}  # PID: user with which it began
    names = sorted(glob.glob(prefix + ".*"), key=lambda n: int(n.rsplit(".", 1)[1]))
    for name in names:
        user = started.get(name.rsplit(".", 1)[1], "0")
        opened = {}  # number of a descriptor: path
        for line in open(name, encoding="utf-8", errors="backslashreplace"):
            m = re.match(r"(\w+)\((.*)\)\s+= (-?\w+)", line, re.S)
            if not m:
                continue
            call, args, result = m.groups()
            if call in ("clone", "clone3", "fork", "vfork"):
                started[result] = user
                continue
            kind = kind_of(call, args)
            if not kind:
                continue
            path = path_of(call, args, opened).rstrip("/") or "/"
            yield kind, user, path
            to = re.search(r"= (\d+)<(.*)>(?:\(deleted\))?$", line.strip(), re.S)
            if to and call.startswith("open"):
                opened[to[1]] = unquote(to[2])
                if opened[to[1]] != (path.removesuffix("/.") or "/"):
                    yield "reach", user, opened[to[1]]
            if call == "setresuid" and result == "0":
                user = args.split(",")[0]


def main():
    page, prefix, *names = sys.argv[1:]
    rows, places = read_rows(page), [n.split("=", 1) for n in names]
    target = dict(places).pop("USER", None)
    counts, lost, total = collections.Counter(), collections.Counter(), 0
    out = dict(places).get("OUT", "")
    for kind, user, path in calls_of(prefix):
        total += 1
        is_parent = out.startswith(path + "/")
        who = "process" if user == target else "root" if user == "0" else user
        for name, place in places:
            if name != "USER" and (path == place or path.startswith(place + "/")):
                path = name + path[len(place):]
        for kinds, users, patterns, row in rows:
            if kind in kinds and who in users and any(
                    p.match(path) or is_parent and p.match("PARENT") for p in patterns):
                counts[row] += 1
                break
        else:
            lost[(kind, who, re.sub(r"\d+", "#", path))] += 1
    for (kind, who, path), n in sorted(lost.items()):
        print(f"{n:5} {kind} | {who} | {path!r}")
    if os.environ.get("SHOW"):
        for row, n in counts.items():
            print(f"{n:5} {row}")
    print(f"{total} calls, {sum(lost.values())} that no row accounts for")
    return 1 if lost or not total else 0


if __name__ == "__main__":
    if sys.argv[1:] == ["--only"]:
        print(TRACED)
        sys.exit(0)
    sys.exit(main())
