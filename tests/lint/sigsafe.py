# SPDX-License-Identifier: MIT
"""sigsafe.py - checks that code in signal handlers follows the rule of docs/internals/signal-safety.md.

usage: sigsafe.py source | ast [COMPILER FLAG...]
Prints findings; status 1 if there are any.
"""
import sys

import sigsafe_ast
import sigsafe_source
from sigsafe_rules import Rules


def main(how, flags):
    rules = Rules("docs/internals/signal-safety.md")
    functions, marked = sigsafe_source.read_all()
    findings, held = rules.judge(functions, marked)
    if how == "ast":
        # The text of the sources has given the files to check; the syntax tree is more precise.
        files = sorted({file for file, _ in held})
        functions, seen = sigsafe_ast.read_all(files, flags)
        findings, held = rules.judge(functions, marked & seen)
    for finding in findings:
        print(finding)
    if not held:
        print("no function is marked SXS_SIGSAFE: nothing was checked")
    print(f"signal safety ({how}): {len(held)} functions in"
          f" {len({file for file, _ in held})} files, {len(findings)} findings")
    return 1 if findings or not held else 0


if len(sys.argv) < 2 or sys.argv[1] not in ("source", "ast"):
    sys.exit("usage: sigsafe.py source | ast [COMPILER FLAG...]")
sys.exit(main(sys.argv[1], sys.argv[2:]))
