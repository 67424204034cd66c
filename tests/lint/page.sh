#!/bin/sh
# SPDX-License-Identifier: MIT
# page.sh - checks the scripts of the pages by the rules of eslint.config.mjs, and their types (page.json). Status 77 when
# the programs are not here.
cd "$(dirname "$0")/../.." || exit 1
modules=$(sh setup/page_lint.sh --present 2>&1) || { echo "$modules"; exit 77; }
node "$modules/eslint/bin/eslint.js" -c tests/lint/eslint.config.mjs cmd/page && node "$modules/typescript/bin/tsc" -p tests/lint/page.json
