#!/bin/sh
# SPDX-License-Identifier: MIT
# session.sh - checks that every static variable of a tool, or of what tools use, is followed by
# SXS_SESSION_RESETS() or SXS_SESSION_KEEPS() in its file (base/session_state.h): what a session
# leaves behind must not be met by the next one. Prints each variable that has neither; status 1 if
# there are any; 77 when the library is not built.
# The variables are those of the objects in BUILD, so constants and data of threads are left out. A
# variable named `part` is registered for forks (base/fork.h) and is kept.
set -u
cd "$(dirname "$0")/../.." || exit 1
: "${BUILD:=build}"
bad=0
[ -d "$BUILD/obj/tools" ] || { echo "$BUILD/libsxsprof.so is not built"; exit 77; }

# Writable variables of the object file $1, without the numbers of those in functions.
variables() {
    objdump -t "$1" | awk '$3 == "O" || $4 == "O" { section = $3 == "O" ? $4 : $5 }
        ($3 == "O" || $4 == "O") && section ~ /^\.(bss|data)/ && section !~ /^\.data\.rel\.ro/ {
            name = $NF; sub(/\.[0-9]+$/, "", name)
            if (name !~ /^(__|sxs_session_variable_|sxs_fork_lock_)/ && name != "part") print name }' |
        sort -u
}

for file in $(find tools symbols stackwalk session/write values instr elt sampling -name '*.c' | sort); do
    object=$BUILD/obj/${file%.c}.o
    [ -e "$object" ] || continue
    for name in $(variables "$object"); do
        grep -qE "SXS_SESSION_(RESETS|KEEPS)\($name\)" "$file" ||
            { echo "$file: $name: add SXS_SESSION_RESETS() or SXS_SESSION_KEEPS()"; bad=1; }
    done
done
exit $bad
