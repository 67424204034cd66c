#!/bin/sh
# SPDX-License-Identifier: MIT
# browser.sh - gets what the tests open pages with: Node.js and Chromium, and through npm
# playwright-core and a reader of profiles. Prints the folder of node modules; or says on standard
# error what is missing, status 1.
# usage: setup/browser.sh [DIR]     (default: build/node)
. "$(dirname "$0")/lib.sh"
dir=${1:-$here/../build/node}
lacks() { echo "$*" >&2; exit 1; }

command -v node >/dev/null 2>&1 || lacks "no node here"
[ -x "${CHROMIUM:-/usr/bin/chromium}" ] || lacks "no Chromium here (Debian: chromium)"
wanted=$(versions node | awk -F'\t' '{ print $2 "@" $1 }')
if [ "$(cat "$dir/.installed" 2>/dev/null)" != "$wanted" ]; then
    command -v npm >/dev/null 2>&1 || lacks "no npm here"
    open_folder "$dir"
    # Two callers at once would install into the same folder: the second waits, and finds all there.
    # shellcheck disable=SC2086
    (cd "$dir" && exec 9>.lock && flock 9 && [ "$(cat .installed 2>/dev/null)" != "$wanted" ] &&
        echo '{ "private": true }' >package.json &&
        npm install --no-audit --no-fund --save-exact $wanted >npm.log 2>&1 && printf '%s\n' "$wanted" >.installed)
    [ "$(cat "$dir/.installed" 2>/dev/null)" = "$wanted" ] || lacks "npm could not install $wanted"
fi
cd "$dir/node_modules" && pwd
