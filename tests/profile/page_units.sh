# SPDX-License-Identifier: MIT
# page_units.sh - unit tests of modules of the pages that need no document (tests/page/).
# run: without sanitizers
. "$(dirname "$0")/../integration/lib.sh"
command -v node >/dev/null || skip_all "$0" "needs node"
node --test --test-reporter=tap tests/page/*.test.mjs >"$tmp/tap" 2>&1
status=$?
grep -E '^ *(ok|not ok) ' "$tmp/tap" | sed -E 's/^ *//; s/^(ok|not ok) [0-9]+/\1/'
[ $status -eq 0 ] && grep -q '^# pass [1-9]' "$tmp/tap"
check "all unit tests of the pages pass" $? "$tmp/tap"
finish
