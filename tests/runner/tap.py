# SPDX-License-Identifier: MIT
"""Reads what one test program printed: TAP lines (Test Anything Protocol).

Understood are "ok ...", "not ok ...", "ok ... # SKIP why" and plans ("1..N"); cmocka 1.1 words a skipped test
"not ok N # SKIP". All other lines are for people. A program that prints several plans (a cmocka program with several groups)
promises their sum.
"""
import re

PLAN = re.compile(r"^1\.\.(\d+)\s*(?:#.*)?$")
SKIP = re.compile(r"#\s*skip\b\s*(.*)$", re.I)
CMOCKA_SKIP = re.compile(r"^not ok (\d*) # SKIP")


class Result:
    """What one program said, and what its end adds to that."""

    def __init__(self, text, ending):
        """text: all it printed. ending: None when it exited with 0, or words for how it ended otherwise."""
        self.passed = self.failed = 0
        self.reasons = []  # why tests were skipped, one entry for each
        self.lines = []
        promised = None
        for line in text.splitlines():
            line = CMOCKA_SKIP.sub(r"ok \1 - # SKIP", line)
            self.lines.append(line)
            plan = PLAN.match(line)
            if plan:
                promised = (promised or 0) + int(plan.group(1))
            elif line.startswith("not ok ") or line == "not ok":
                self.failed += 1
            elif line.startswith("ok ") or line == "ok":
                skip = SKIP.search(line)
                if skip:
                    self.reasons.append(skip.group(1))
                else:
                    self.passed += 1
        said = self.passed + self.failed + len(self.reasons)
        if ending and not self.failed:
            self._fail(ending)
        elif not ending and said == 0 and promised != 0:
            self._fail("printed no result")
        elif not ending and promised is not None and said != promised:
            self._fail("printed %d results, its plan says %d" % (said, promised))

    def _fail(self, why):
        self.failed += 1
        self.lines.append("not ok - the program " + why)

    @property
    def skipped(self):
        return len(self.reasons)
