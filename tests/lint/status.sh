#!/bin/sh
# SPDX-License-Identifier: MIT
# status.sh - no test hands `$?` on behind a $(...) of the same line: bash takes that command's status, and the test
# cannot fail.
set -u
cd "$(dirname "$0")/../.." || exit 2
if grep -rnE '^ *[a-z_]+ "[^|;]*\$\(.*" \$\?( |$)' --include='*.sh' tests | grep -v '^tests/lint/'; then
    exit 1
fi
