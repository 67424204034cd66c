#!/bin/sh
# SPDX-License-Identifier: MIT
# status.sh - checks that no test passes `$?` after a $(...) in the same line: bash then uses the
# status of that command, and the test cannot fail.
set -u
cd "$(dirname "$0")/../.." || exit 2
if grep -rnE '^ *[a-z_]+ "[^|;]*\$\(.*" \$\?( |$)' --include='*.sh' tests | grep -v '^tests/lint/'; then
    exit 1
fi
