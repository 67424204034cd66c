#!/bin/sh
# SPDX-License-Identifier: MIT
# layering.sh - no folder includes what lies above it. Names the lines that do; status 1 if any.
#
# From bottom to top: manager/base, instr and the generated ABI, record and config, signals, manager, then stackwalk,
# tools and values (siblings, unaware of each other), sampler, calls and rewrite (siblings too), events, callback. The public
# header in include/ is below them all.
# report and harness stand apart: report may use record and include, harness include and the ABI.
# signals shows others signals.h alone. tests may include anything.
# usage: layering.sh [FILE...]        (default: all of the project's)
set -u
cd "$(dirname "$0")/../.." || exit 1
[ $# -gt 0 ] || set -- $(find manager record signals stackwalk tools instr config values sampler calls rewrite events callback report harness include \
    -name '*.[chS]' -o -name '*.inc' 2>/dev/null | sort)

exec awk '
BEGIN {
    rank["include"] = 0; rank["manager/base"] = 0; rank["abi"] = 1; rank["record"] = 2
    rank["signals"] = 3; rank["manager"] = 4; rank["stackwalk"] = 5; rank["tools"] = 5
    rank["instr"] = 1; rank["config"] = 2; rank["values"] = 5; rank["sampler"] = 6; rank["calls"] = 6; rank["rewrite"] = 6; rank["events"] = 7; rank["callback"] = 8
    may["report"] = " report record instr config include "
    may["harness"] = " harness include abi "
    # generated: the ABI and its tables, and what the manager and its neighbours make of them
    layer_of["sxs_abi.h"] = "abi"; layer_of["sxs_events.h"] = "manager"
    layer_of["sxs_info.h"] = "manager"; layer_of["sxs_events.inc"] = "abi"
    layer_of["sxs_callback.inc"] = "callback"; layer_of["sxs_fake_info.inc"] = "harness"
    layer_of["sxs_il_opcodes.h"] = "instr"; layer_of["sxs_il_opcodes.inc"] = "instr"
    layer_of["config_schema.h"] = "config"
    layer_of["sxs_page.h"] = "report"; layer_of["profile.pb-c.h"] = "report"
}
function layer(path,    part) {
    if (path in layer_of)
        return layer_of[path]
    if (path !~ /\//)
        return "?"
    split(path, part, "/")
    if (part[1] == "manager" && part[2] == "base")
        return "manager/base"
    return part[1]
}
function beside(what,    path, line, there) {
    path = FILENAME
    sub(/[^\/]*$/, what, path)
    there = what !~ /\// && (getline line < path) >= 0
    close(path)
    return there
}
function allowed(from, to, what) {
    if (from == to)
        return 1
    if (to == "signals" && what != "signals/signals.h")
        return 0
    if (from in may)
        return index(may[from], " " to " ") > 0
    return (from in rank) && (to in rank) && rank[to] < rank[from]
}
/^[ \t]*#[ \t]*include[ \t]*"/ {
    what = $0
    sub(/^[^"]*"/, "", what)
    sub(/".*/, "", what)
    from = layer(FILENAME)
    to = beside(what) ? from : layer(what)
    if (to == "?") {
        printf "%s:%d: \"%s\" is neither a path from the top nor a generated header\n", FILENAME, FNR, what
        bad = 1
    } else if (!allowed(from, to, what)) {
        printf "%s:%d: %s must not include \"%s\" (%s)\n", FILENAME, FNR, from, what, to
        bad = 1
    }
}
END { exit bad }
' "$@"
