# SPDX-License-Identifier: MIT
"""Reads the output of one test program: TAP lines (Test Anything Protocol).

It understands "ok ...", "not ok ...", "ok ... # SKIP why" and plans ("1..N"). cmocka 1.1 prints
"not ok N # SKIP" for a skipped test. All other lines are ignored. If a program prints several plans
(a cmocka program with several groups), the sum of the plans is expected.
"""
import re

PLAN = re.compile(r"^1\.\.(\d+)\s*(?:#.*)?$")
SKIP = re.compile(r"#\s*skip\b\s*(.*)$", re.I)
CMOCKA_SKIP = re.compile(r"^not ok (\d*) # SKIP")
RESULT = re.compile(r"^(not )?ok( |$)")


def plain(text):
    return text.replace("_", " ").lower()


class Result:
    """The results of one program: its TAP lines, and a failure if it ended wrongly."""

    def __init__(self, text, ending, case=""):
        """`text`: the output. `ending`: None if the exit status was 0, otherwise a text that
        says how the program ended. `case`: only results whose name contains this text are counted;
        blanks and underscores are the same."""
        self.passed = self.failed = 0
        self.reasons = []  # one entry for each skipped test: the reason
        self.lines = []
        promised, said, bad = None, 0, 0
        for line in text.splitlines():
            line = CMOCKA_SKIP.sub(r"ok \1 - # SKIP", line)
            self.lines.append(line)
            plan = PLAN.match(line)
            if plan:
                promised = (promised or 0) + int(plan.group(1))
                continue
            if not RESULT.match(line):
                continue
            said += 1
            bad += line.startswith("not")
            if plain(case) not in plain(line):
                continue
            if line.startswith("not"):
                self.failed += 1
            else:
                skip = SKIP.search(line)
                if skip:
                    self.reasons.append(skip.group(1))
                else:
                    self.passed += 1
        if ending and not bad:
            self.fail(ending)
        elif not ending and said == 0 and promised != 0:
            self.fail("printed no result")
        elif not ending and promised is not None and said != promised:
            self.fail("printed %d results, its plan says %d" % (said, promised))

    def fail(self, why):
        self.failed += 1
        self.lines.append("not ok - the program " + why)

    @property
    def skipped(self):
        return len(self.reasons)
