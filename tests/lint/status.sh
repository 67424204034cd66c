#!/bin/sh
# SPDX-License-Identifier: MIT
# status.sh - checks that no test passes `$?` after a $(...) in the same command: bash then uses the
# status of that command, and the test cannot fail. Lines that end with a backslash are joined.
set -u
cd "$(dirname "$0")/../.." || exit 2
joined='{ line = line $0 } /\\$/ { sub(/\\$/, "", line); if (!at) at = FNR; next }
        { if (line ~ /^ *[a-z_]+ "[^|;]*\$\(.*" \$\?( |$)/) { print FILENAME ":" (at ? at : FNR) ":" line; n++ }
          line = ""; at = 0 }
        END { exit n > 0 }'
find tests -name '*.sh' -not -path 'tests/lint/*' -exec awk "$joined" {} +
