#!/bin/sh
# SPDX-License-Identifier: MIT
# abi.sh - copies the generated headers in FROM to TO for cppcheck, with a shorter sxs_abi.h. The
# copy lacks what only the compiler needs (assertions of sizes) and the vtables of interfaces that
# no source names. The reason: cppcheck reads the whole header again for each source, which took two
# thirds of its time.
#
# usage: abi.sh FROM TO SOURCE_FOLDER...
set -eu
from=$1 to=$2
shift 2
mkdir -p "$to"
rm -f "$to/sxs_abi.h" # an old copy would be searched for names below, and it names all interfaces
for header in "$from"/*.h "$from"/*.inc; do
    [ "${header##*/}" = sxs_abi.h ] || cp "$header" "$to/"
done
named=$({ find "$@" -name '*.[ch]' -exec cat {} +; cat "$to"/*; } | grep -oE '\bI[A-Z][A-Za-z]+[0-9]*' |
    sed 's/Vtbl$//' | sort -u | tr '\n' ' ')
awk -v named="$named" '
    BEGIN { n = split(named, all, " "); for (i = 1; i <= n; i++) keep[all[i]] = 1 }
    /^_Static_assert/ { next }
    /^typedef struct [A-Za-z0-9]+Vtbl \{$/ { name = $3; sub(/Vtbl$/, "", name); dropping = !(name in keep) }
    !dropping
    /^\}/ { dropping = 0 }
' "$from/sxs_abi.h" >"$to/sxs_abi.h"
