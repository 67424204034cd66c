# SPDX-License-Identifier: MIT
"""recursion.py - finds functions that call themselves, directly or through others, where files of strangers are read.

Such a function uses the stack by the depth of what it reads. Each must be listed in tests/lint/recursion.txt, which
says what bounds its depth. A function whose name is passed as an argument counts as called. Prints the functions that are not listed, and lines of the list that no longer apply; status 1 if
there are any. Usage: recursion.py [FOLDER...]
"""
import collections
import glob
import re
import sys

sys.path.insert(0, "tests/lint")
import sigsafe_source

FOLDERS = ["session/*", "cmd", "cmd/*", "instr/*", "rejit", "rejit/*", "base", "base/text"]
LIST = "tests/lint/recursion.txt"
NAMED = re.compile(r"(?<![.>\w])([A-Za-z_]\w*)(?=\s*\()|(?<=[(, ])([a-z_]\w*)(?=\s*[,)])")
VARIABLE = re.compile(r"\w[ *]+(?:const )?([a-z_]\w*)\s*(?=[=;,)\[:])")


def read(folders):
    """Returns {(path, name): the keys of the functions that it names}."""
    bodies, heads, by_name = {}, {}, collections.defaultdict(list)
    for path in sorted(p for folder in folders for p in glob.glob(f"{folder}/*.[ch]")):
        with open(path, encoding="utf-8") as f:
            text = sigsafe_source.clean(f.read())
        for body in sigsafe_source.BODY.finditer(text):
            head = re.split(r"[;}]", text[:body.start()])[-1]
            name = re.search(r"(\w+)\s*\(", head)
            if "=" in head or not name:
                continue
            key = path, name[1]
            bodies[key], heads[key] = body[0], head[name.end():]
            by_name[name[1]].append((key, "static" in head.split()))
    graph = {}
    for key, body in bodies.items():
        calls = set()
        variables = set(VARIABLE.findall(heads[key])) | set(VARIABLE.findall(body))
        for call, argument in NAMED.findall(body):
            if call or argument not in variables:
                calls |= {to for to, static in by_name.get(call or argument, ()) if not static or to[0] == key[0]}
        graph[key] = calls
    return graph


def circles(graph):
    """Returns the functions from which a way of calls leads back to themselves (Tarjan, without recursion)."""
    number, low, stack, on, found = {}, {}, [], set(), set()
    for root in graph:
        if root in number:
            continue
        work = [(root, iter(graph[root]))]
        number[root] = low[root] = len(number)
        stack.append(root)
        on.add(root)
        while work:
            at, more = work[-1]
            for to in more:
                if to not in number:
                    number[to] = low[to] = len(number)
                    stack.append(to)
                    on.add(to)
                    work.append((to, iter(graph[to])))
                    break
                if to in on:
                    low[at] = min(low[at], number[to])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[at])
                if low[at] == number[at]:
                    part = []
                    while not part or part[-1] != at:
                        part.append(stack.pop())
                        on.discard(part[-1])
                    if len(part) > 1 or at in graph[at]:
                        found |= set(part)
    return found


found = circles(read(sys.argv[1:] or FOLDERS))
with open(LIST, encoding="utf-8") as f:
    listed = {tuple(line.split("\t")[0].split(":")) for line in f if line.strip() and not line.startswith("#")}
for path, name in sorted(found - listed):
    print(f"{path}: {name}() calls itself: use a loop, or bound its depth and list it in {LIST}")
for path, name in sorted(listed - found):
    print(f"{LIST}: {path}:{name}: it does not call itself any more")
sys.exit(1 if found ^ listed else 0)
