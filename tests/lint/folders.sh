#!/bin/sh
# SPDX-License-Identifier: MIT
# folders.sh [PART...] - prints the folders of folders.tsv that are linked into one of PART
# (library, clrie, preload, malloc, command, il), and the folders that have headers only; without PART, all
# folders. One folder a line.
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
