#!/bin/sh
# SPDX-License-Identifier: MIT
# browser.sh - what the tests open pages with: Node.js, Chromium, and through npm playwright-core and the readers of
# the report formats. Prints the folder of node modules; or says on stderr what is not here, status 1.
#
# usage: setup/browser.sh [DIR]     (default: build/node)
set -u
dir=${1:-build/node}
lacks() { echo "$*" >&2; exit 1; }

command -v node >/dev/null 2>&1 || lacks "no node here"
[ -x "${CHROMIUM:-/usr/bin/chromium}" ] || lacks "no Chromium here (Debian: chromium)"
if [ ! -e "$dir/.installed" ]; then
    command -v npm >/dev/null 2>&1 || lacks "no npm here"
    mkdir -p "$dir" && cp tests/profile/package.json "$dir/" || lacks "$dir cannot be made"
    # Two callers at once would install into the same folder: the second waits, and finds all there.
    (cd "$dir" && exec 9>.lock && flock 9 &&
        { [ -e .installed ] || npm install --no-audit --no-fund >npm.log 2>&1 && : >.installed; })
    [ -e "$dir/.installed" ] || lacks "npm could not install playwright-core"
fi
cd "$dir/node_modules" && pwd
