#!/bin/sh
# SPDX-License-Identifier: MIT
# page_lint.sh - gets through npm what `make lint` checks the scripts of the pages with: eslint and TypeScript. Prints the
# folder of node modules; or says on standard error what is missing, status 1.
# usage: setup/page_lint.sh [--present] [DIR]     (default: build/node_lint)
#   --present   install nothing
. "$(dirname "$0")/lib.sh"
dir=${1:-$here/../build/node_lint}

command -v node >/dev/null 2>&1 || lacks "no node here"
npm_modules node_lint "$dir"
