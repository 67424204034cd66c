#!/bin/sh
# SPDX-License-Identifier: MIT
# environment.sh - checks that base/env.c alone reads environment variables, so that its table lists
# every variable. Prints the calls of getenv() and secure_getenv() elsewhere in the library and the
# command; status 1 if there are any.
set -u
cd "$(dirname "$0")/../.." || exit 1
# shellcheck disable=SC2046
! grep -nwE '(secure_)?getenv *\(' $(find $(sh tests/lint/folders.sh) -maxdepth 1 -name '*.[chS]' | sort -u) |
    grep -vE '^base/env\.[ch]:'
