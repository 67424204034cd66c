# SPDX-License-Identifier: MIT
"""expand.py - prints odd.il with its repetitions written out. usage: expand.py FILE"""
import re
import sys

CLAUSES = "\n".join(f"    .try {{ leave.s e{i} }} finally {{ endfinally }} e{i}: nop" for i in range(30))
WORDS = {
    "@LOCALS@": ", ".join(f"int32 l{i}" for i in range(300)),
    "@ARGS@": ", ".join(f"int32 a{i}" for i in range(300)),
    "@SWITCH@": ", ".join(f"C{i % 7}" for i in range(20000)),
    "@CLAUSES@": CLAUSES,
}
with open(sys.argv[1], encoding="utf-8") as f:
    text = f.read()
head, text = text.split("\n.assembly extern", 1)
for word, meant in WORDS.items():
    text = text.replace(word, meant)
text = re.sub(r"@N\((\d+)\)(.*)@", lambda m: f"    {m[2]}\n" * int(m[1]), text)
sys.stdout.write(f"{head}\n.assembly extern{text}")
