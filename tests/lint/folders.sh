#!/bin/sh
# SPDX-License-Identifier: MIT
# folders.sh [PART...] - prints the folders of folders.tsv that are linked into one of PART (library, preload, command, il), and
# those with headers alone; without PART all. One a line, subfolders of a folder that is listed left out.
cd "$(dirname "$0")/../.." || exit 1
exec awk -F'\t' -v parts="$*" '
BEGIN { n = split(parts, part, " ") }
!/^#/ {
    wanted = !n || $2 == "-"
    for (i = 1; i <= n; i++)
        wanted += ("," $2 ",") ~ ("," part[i] ",")
    if (wanted)
        print $1
}' folders.tsv
