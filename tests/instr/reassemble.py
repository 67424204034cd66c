# SPDX-License-Identifier: MIT
"""reassemble.py - prints an .il source with the method bodies that `sxsprof il` printed.

usage: reassemble.py SOURCE LISTING
The methods have the same order in both files. Methods without IL are not in the listing.
"""
import re
import sys


def end_of_body(text, at):
    """Returns the offset after the brace that closes the brace at @at. Skips strings and comments."""
    depth = 0
    for m in re.compile(r'"(?:\\.|[^"\\])*"|//[^\n]*|[{}]').finditer(text, at):
        depth += {"{": 1, "}": -1}.get(m[0], 0)
        if depth == 0:
            return m.end()
    sys.exit("a brace is missing")


source, listing = (open(path, encoding="utf-8").read() for path in sys.argv[1:])
bodies = re.findall(r"^\.method [^\n]*\n(\{\n.*?^\})", listing, re.M | re.S)
out, at, n = [], 0, 0
for m in re.finditer(r"\.method [^{]*\bcil managed\s*(?=\{)", source):
    if "pinvokeimpl" in m[0] or m.start() < at:
        continue
    out.append(source[at:m.end()] + bodies[n])
    at = end_of_body(source, m.end())
    n += 1
if n != len(bodies):
    sys.exit(f"{n} methods in the source, {len(bodies)} in the listing")
sys.stdout.write("".join(out) + source[at:])
