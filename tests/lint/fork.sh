#!/bin/sh
# SPDX-License-Identifier: MIT
# fork.sh - every lock with static storage in the library is made anew in a forked child (base/fork.h), and
# base/fork.c alone calls pthread_atfork (beside it signals/install.c, which also lives without the rest).
# Names the files where that is not so; status 1 if any.
set -u
cd "$(dirname "$0")/../.." || exit 1
bad=0
for file in $(find $(sh tests/lint/folders.sh library preload) -maxdepth 1 -name '*.c' | sort -u); do
    # PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP is another word: such a lock is made anew where it is defined.
    locks=$(grep -ow PTHREAD_MUTEX_INITIALIZER "$file" | wc -l)
    resets=$(grep -c 'SXS_FORK_RESETS(' "$file")
    case $file in
    base/fork.c | signals/install.c) ;;
    *) grep -q pthread_atfork "$file" && { echo "$file: pthread_atfork: use sxs_fork_register()"; bad=1; } ;;
    esac
    [ "$file" = base/fork.c ] || [ "$locks" -eq "$resets" ] ||
        { echo "$file: $locks static locks, $resets times SXS_FORK_RESETS()"; bad=1; }
done
exit $bad
