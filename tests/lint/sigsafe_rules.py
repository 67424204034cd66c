# SPDX-License-Identifier: MIT
"""sigsafe_rules.py - the rule of docs/internals/signal-safety.md. It does not depend on how the sources were
read."""
import re
from dataclasses import dataclass, field

BUILTIN = re.compile(r"(atomic_|__atomic_|__builtin_|__sync_|__c11_atomic_)\w+$")


@dataclass
class Function:
    file: str
    name: str
    line: int
    marked: bool
    calls: list = field(default_factory=list)  # (text of the callee, line)


def read_table(document, title):
    """Returns the first column of the table below <!-- title -->."""
    with open(document, encoding="utf-8") as f:
        text = f.read().split(f"<!-- {title} -->", 1)[1]
    rows = re.match(r"\s*((?:\|.*\n)+)", text)[1]
    return set(re.findall(r"^\| `([^`]+)`", rows, re.M))


class Rules:
    def __init__(self, document):
        self.entries = read_table(document, "entry points")
        self.allowed = read_table(document, "allowed")

    def held(self, functions, marked):
        """Returns the functions that the rule applies to, by (file, name)."""
        by_name = {(f.file, f.name): f for f in functions}
        held = {k for k, f in by_name.items() if f.marked or f.name in marked | self.entries}
        todo = [k for k in held if k[1] in self.entries]
        while todo:
            at = todo.pop()
            for name, _ in by_name[at].calls:
                near = (at[0], name)
                if near in by_name and near not in held and not self._listed(at[1], name):
                    held.add(near)
                    todo.append(near)
        return {k: by_name[k] for k in held}

    def _listed(self, caller, name):
        return name in self.allowed or f"{caller}: {name}" in self.allowed

    def judge(self, functions, marked):
        """Applies the rule. `functions`: all functions that were read; `marked`: names marked in
        headers. Returns the findings, and the functions that the rule applies to."""
        held = self.held(functions, marked)
        findings = []
        for (file, caller), function in sorted(held.items()):
            for name, line in function.calls:
                if not (BUILTIN.match(name) or self._listed(caller, name) or (file, name) in held
                        or name in marked or name in self.entries):
                    findings.append(f"{file}:{line}: {caller}() may run in a signal handler and"
                                    f" calls {name}(), which is neither marked SXS_SIGSAFE nor"
                                    " listed in docs/internals/signal-safety.md")
        missing = self.entries - {name for _, name in held}
        findings += [f"docs/internals/signal-safety.md: the entry point {name}() does not exist"
                     for name in sorted(missing)]
        return findings, held
