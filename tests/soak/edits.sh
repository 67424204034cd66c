# SPDX-License-Identifier: MIT
# 500 edits of an instrumentation file under load, each in force everywhere within 2 s: tests/integration/edits.sh on a
# machine that has nothing else to do. Called by `make soak`; runs alone as well.
#
# EDITS (500)   SECONDS_MOST (2)
EDITS=${EDITS:-500} SECONDS_MOST=${SECONDS_MOST:-2} exec bash "$(dirname "$0")/../integration/edits.sh"
