# SPDX-License-Identifier: MIT
"""Reads the table of hosts, hosts.tsv; has the lists of tools that each host runs with."""
import glob
import os
import shutil

HERE = os.path.dirname(os.path.abspath(__file__))

# For each column of the matrix: the value of SXSPROF_TOOLS, and whether rules.xml is used.
TOOLS = {
    "alone": ("", False),
    "sample": ("sample:cpu=997", False),
    "wall": ("sample:wall=499", False),
    "calls": ("calls:trace=8", False),
    "exceptions": ("exceptions", False),
    "events": ("events", False),
    "instrument": ("", True),
    "all": ("sample:cpu=997;calls;exceptions;events", True),
}

# Folders in which Debian and the C library keep libraries to preload.
LIBRARY_FOLDERS = ("/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib", "/usr/local/lib")


class Host:
    """One row of hosts.tsv."""

    def __init__(self, name, group, command, settings, claim):
        self.name, self.group, self.claim = name, group, claim
        self.command = command.split()
        self.settings = [s.partition(":")[::2] for s in settings.split()]

    def all(self, key):
        """Returns all values of a setting, which may be given several times."""
        return [value for k, value in self.settings if k == key]

    def get(self, key, default=""):
        values = self.all(key)
        return values[-1] if values else default

    @property
    def env(self):
        return dict(value.split("=", 1) for value in self.all("env"))

    @property
    def clrs(self):
        """The numbers of runtimes that the host can have: (1, 2), or (1,)."""
        return tuple(range(1, int(self.get("clrs", "2")) + 1))

    def why_not(self, build):
        """Returns the reason why this host cannot run here; empty when it can."""
        for need in self.all("needs"):
            if need == "root":
                if os.geteuid() != 0:
                    return "needs root"
            elif need.startswith("file="):
                if not glob.glob(need[5:].replace("BUILD", build)):
                    return "needs " + need[5:].replace("BUILD", build)
            elif not shutil.which(need):
                return need + " is not installed"
        for library in self.all("preload"):
            if not find_library(library, build):
                return library + " is not installed"
        return ""

    def unsupported(self, tool, preloaded, clrs):
        """Returns the reason why a combination is not supported (docs/internals/hosts.md); empty when it
        is."""
        for value in self.all("unsupported"):
            where, _, why = value.partition("=")
            wanted = where.split(",")
            have = {tool, "preload" if preloaded else "no-preload", "clrs%d" % clrs}
            if all(w in have for w in wanted):
                return why.replace("_", " ")
        return ""


def find_library(name, build):
    """Returns the path of a library to preload, or None."""
    for folder in (os.path.join(build, "hosts"),) + LIBRARY_FOLDERS:
        path = os.path.join(folder, name)
        if os.path.exists(path):
            return path
    return None


def read(path=os.path.join(HERE, "hosts.tsv")):
    """Returns the hosts in the order of the file. Raises ValueError for a malformed row."""
    hosts = []
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip() or line.startswith("#"):
                continue
            fields = [f.strip() for f in line.rstrip("\n").split("\t") if f.strip()]
            if len(fields) != 5:
                raise ValueError("%s:%d: expected 5 fields, there are %d" % (path, number, len(fields)))
            if any(h.name == fields[0] for h in hosts):
                raise ValueError("%s:%d: a second host of the name %s" % (path, number, fields[0]))
            hosts.append(Host(*fields))
    return hosts
