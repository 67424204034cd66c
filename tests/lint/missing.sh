#!/bin/sh
# SPDX-License-Identifier: MIT
# missing.sh - checks that each counter of the session's files that tells of something lost is in the table of
# cmd/output/missing.c, from which all reports say what is missing. Status 1, and the counter's name, if one is not.
cd "$(dirname "$0")/../.." || exit 1
exec python3 - <<'P'
import glob
import re
import sys

# Counters with one of these words in their names tell of something that a session lacks.
LACKS = re.compile(r"lost|dropped|unlisted|missed|unsampled|n_short|too_deep|errors|left_out|refused|without_clock")
# Those that say no more than another one, or that another report has among its own first lines.
OTHERS = {
    ("samples.h", "unsampled_ns"): "the time of n_unsampled",
    ("samples.h", "costs_dropped_n"): "what n_costs_dropped stood for",
    ("samples.h", "costs_dropped_value"): "what n_costs_dropped stood for",
    ("samples.h", "without_clock_errno"): "the reason of n_without_clock",
    ("samples.h", "signals_refused_errno"): "the reason of n_signals_refused",
    ("guests.h", "n_unlisted"): "guests have a report of their own",
    ("guests.h", "info_refused"): "calls of a guest, counted in its report",
}
table = open("cmd/output/missing.c").read()
found = []
for path in sorted(glob.glob("session/format/*.h")):
    name = path.split("/")[-1]
    for line in open(path):
        declared = re.match(r"\s+(?:_Atomic )?uint(?:32|64)_t\s+([^;]*);", line)
        for field in re.findall(r"\w+", re.sub(r"\[[^]]*\]", "", declared.group(1))) if declared else []:
            if LACKS.search(field) and (name, field) not in OTHERS and not re.search(r"\b%s\b" % field, table):
                found.append("%s: %s is not in the table of cmd/output/missing.c: no report says what is missing" % (path, field))
print("\n".join(found))
sys.exit(bool(found))
P
