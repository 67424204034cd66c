# SPDX-License-Identifier: MIT
# edits.sh - checks that each of 500 edits of an instrumentation file is in force within 2 s, under load.
# Runs tests/integration/edits.sh with stricter limits, so the machine must be idle otherwise. Called by
# `make soak`; can also be run directly.
#
# EDITS         number of edits (500)
# SECONDS_MAX  time limit of an edit in seconds (2)
EDITS=${EDITS:-500} SECONDS_MAX=${SECONDS_MAX:-2} exec bash "$(dirname "$0")/../integration/edits.sh"
