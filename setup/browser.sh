#!/bin/sh
# SPDX-License-Identifier: MIT
# browser.sh - gets what the tests open pages with: Node.js and Chromium, and through npm
# playwright-core, a reader of profiles and rules for pages (axe-core). Prints the folder of node modules; or says on standard
# error what is missing, status 1.
# usage: setup/browser.sh [--present] [DIR]     (default: build/node)
#   --present   install nothing
. "$(dirname "$0")/lib.sh"
dir=${1:-$here/../build/node}

command -v node >/dev/null 2>&1 || lacks "no node here"
[ -x "${CHROMIUM:-/usr/bin/chromium}" ] || lacks "no Chromium here (Debian: chromium)"
npm_modules node "$dir"
