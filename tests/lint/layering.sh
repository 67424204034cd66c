#!/bin/sh
# SPDX-License-Identifier: MIT
# layering.sh - checks that no folder includes headers of a folder above it. Prints the wrong
# #include lines; status 1 if there are any.
#
# folders.tsv lists the folders from top to bottom. A folder may include its own headers and those
# of folders further down, with these exceptions: a tool (tools/NAME) may not include another tool, but
# the folders that tools share (tools/options, tools/events_file);
# other folders may include signals/signals.h only, of the folder signals; every folder may include base/base.h,
# which has macros only and includes nothing of the project. include/ has public
# headers and is below all folders. harness may use include/ and the generated ABI; tests may
# include anything. usage: layering.sh [FILE...]        (default: all sources of the project)
set -u
cd "$(dirname "$0")/../.." || exit 1
# shellcheck disable=SC2046
[ $# -gt 0 ] || set -- $(find $(awk -F'\t' '!/^#/ { sub(/\/.*/, "", $1); if (!seen[$1]++) print $1 }' folders.tsv) harness include \
    -name '*.[chS]' -o -name '*.inc' 2>/dev/null | sort)

exec awk '
BEGIN {
    while ((getline line < "folders.tsv") > 0)
        if (line !~ /^#/) {
            split(line, field, "\t")
            rank[field[1]] = ++n
        }
    # generated headers: the ABI and its tables, and the folders that they belong to
    rank["abi"] = rank["include"] = n + 1
    layer_of["sxs_abi.h"] = "abi"; layer_of["sxs_events.h"] = "manager"
    layer_of["sxs_info.h"] = "manager"; layer_of["sxs_events.inc"] = "abi"
    layer_of["sxs_callback.inc"] = "callback"
    layer_of["sxs_guest_events.inc"] = "guests"; layer_of["sxs_guest_info.inc"] = "guests"
    layer_of["sxs_clrie.h"] = layer_of["sxs_clrie.inc"] = "clrie/object"
    layer_of["sxs_il_opcodes.h"] = "include"; layer_of["sxs_il_opcodes.inc"] = "instr/il"
    layer_of["config_schema.h"] = "instr/config"
    layer_of["guests_schema.h"] = "guests/config"
    layer_of["sxs_sonames.h"] = "abi"
    layer_of["sxs_commit.h"] = "cmd"; layer_of["sxs_page.h"] = "cmd/report"; layer_of["sxs_heap_page.h"] = "cmd/heap"; layer_of["sxs_list_page.h"] = "cmd/serve"; layer_of["profile.pb-c.h"] = "cmd/report"; layer_of["otlp.pb-c.h"] = "cmd/push"
    layer_of["names.pb-c.h"] = "cmd/symbols"
}
function layer(path) {
    if (path in layer_of)
        return layer_of[path]
    if (path !~ /\//)
        return "?"
    if (path ~ /^harness\//)
        return "harness"
    sub(/\/[^\/]*$/, "", path)
    return path
}
function beside(what,    path, line, there) {
    path = FILENAME
    sub(/[^\/]*$/, what, path)
    there = what !~ /\// && (getline line < path) >= 0
    close(path)
    return there
}
function is_tool(folder) { return folder ~ /^tools\// && folder !~ /^tools\/(options|events_file)$/ }
function allowed(from, to, what) {
    if (from == to)
        return 1
    if (what == "base/base.h")
        return from in rank
    if (from == "harness")
        return to == "include" || to == "abi"
    if (to == "signals" && from !~ /^signals\// && what != "signals/signals.h")
        return 0
    if (is_tool(from) && is_tool(to))
        return 0
    return (from in rank) && (to in rank) && rank[to] > rank[from]
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
