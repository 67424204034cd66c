# SPDX-License-Identifier: MIT
# change.sh - checks which changes of known trees sxsprof diff colours.
# run: without sanitizers
. "$(dirname "$0")/lib.sh"
if ! NODE_MODULES=$(sh setup/browser.sh --present 2>"$T/lacks"); then
    skip "changes of known trees" "$(cat "$T/lacks")"
    exit $failed
fi
export NODE_MODULES
timeout 100 node tests/profile/change.mjs || failed=1
exit $failed
