#!/bin/bash
# SPDX-License-Identifier: MIT
# old_sessions.sh - reads sessions that were recorded before, by a library whose formats were those of the folder's date
# (tests/sessions/README.md), and compares the numbers of the reports with those that the command of the time printed.
cd "$(dirname "$0")/../.." || exit 1
. tests/command/common.inc

for folder in tests/sessions/*/; do
    date=$(basename "$folder")
    mkdir -p "$T/$date/json" "$T/$date/packed"
    for archive in "$folder"*.tar.gz; do
        name=$(basename "$archive" .tar.gz)
        tar -xzf "$archive" -C "$T/$date" --no-same-owner 2>"$T/err"
        "$SXS" report --format json -o "$T/$date/json/$name.json" "$T/$date/$name" 2>>"$T/err"
        is "$date: the session '$name' can be read" "0 " "$? $(grep -v "cannot be opened any more: its functions have no names$" "$T/err")"
        "$SXS" report --format html -o "$T/page.html" "$T/$date/$name" 2>"$T/err"
        is "$date: and shown as a page" "0 yes" "$? $([ -s "$T/page.html" ] && echo yes)"
    done
    is "$date: each has the numbers that it had" "" \
        "$(python3 -B tests/command/old_sessions.py --compare "$folder/numbers.json" "$T/$date/json/"*.json 2>&1)"
    for pack in "$folder"*.sxsprof; do
        "$SXS" report --format json -o "$T/$date/packed/$(basename "$pack" .sxsprof).json" "$pack" 2>"$T/err"
        is "$date: the packed session $(basename "$pack") can be read" 0 $?
    done
    for packed in "$T/$date/packed/"*.json; do
        is "$date: $(basename "$packed" .json): packed, it has the same numbers" \
            "$(python3 -B tests/command/old_sessions.py "$T/$date/json/$(basename "$packed")")" \
            "$(python3 -B tests/command/old_sessions.py "$packed")"
    done
done

# The comparison sees a number that is another one.
python3 -B - "$T/$date/json/tools.json" "$T/tools.json" <<'P'
import json, sys
d = json.load(open(sys.argv[1]))
d['exceptions'][0]['count'] += 1
json.dump(d, open(sys.argv[2], 'w'))
P
is "a number that has changed is found" "tools: exceptions" \
    "$(python3 -B tests/command/old_sessions.py --compare "$folder/numbers.json" "$T/tools.json" 2>&1 | sed -n 's/^\(tools: exceptions\).*/\1/p')"
finish
