# SPDX-License-Identifier: MIT
"""keep.py - measures continuous mode in a busy web service, beside no profiler and dotnet-trace.

The rounds and turns are those of web.py. A turn is two seconds long, so that each turn of the variant with a segment a
second has the end of one segment and the begin of the next.
"""
from web import Web

KINDS = {
    "library alone": ({}, None),
    "continuous": ({"SXSPROF_KEEP": "10m"}, 0.99),
    "continuous, a segment a second": ({"SXSPROF_KEEP": "10m", "SXSPROF_SEGMENT": "1s"}, None),
}


class Keep(Web):
    """usage: Keep(variants, quick, note).measure() -> [(title, head, rows)]"""
    TITLE = "Continuous mode in a busy web service"
    KINDS = KINDS
    TURN = 2

    def settings(self, name):
        return self.KINDS[name][0]
