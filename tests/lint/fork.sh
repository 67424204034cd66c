#!/bin/sh
# SPDX-License-Identifier: MIT
# fork.sh - checks that every lock with static storage in the library is initialized again in a
# forked child (base/fork.h), and that pthread_atfork is called in base/fork.c and signals/install.c
# only; the latter is also linked without the rest of the library. And that waits with a time limit
# go by CLOCK_MONOTONIC (base/timed_wait.h). Prints the files that break a rule; status 1 if there
# are any.
set -u
cd "$(dirname "$0")/../.." || exit 1
bad=0
for file in $(find $(sh tests/lint/folders.sh library clrie preload) -maxdepth 1 -name '*.c' | sort -u); do
    # PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP does not match: files with such a lock initialize it
    # again themselves.
    locks=$(grep -ow PTHREAD_MUTEX_INITIALIZER "$file" | wc -l)
    resets=$(grep -c 'SXS_FORK_RESETS(' "$file")
    case $file in
    base/fork.c | signals/install.c) ;;
    *) grep -q pthread_atfork "$file" && { echo "$file: pthread_atfork: use sxs_fork_register()"; bad=1; } ;;
    esac
    [ "$file" = base/fork.c ] || [ "$locks" -eq "$resets" ] ||
        { echo "$file: $locks static locks, $resets times SXS_FORK_RESETS()"; bad=1; }
done
# shellcheck disable=SC2046
if grep -rnwE 'pthread_(cond|mutex|rwlock)_(timedwait|timedlock|timedrdlock|timedwrlock)|sem_timedwait|mtx_timedlock|cnd_timedwait' \
    --include='*.[ch]' $(sh tests/lint/folders.sh) | grep -v '^base/timed_wait.h:'; then
    echo "use base/timed_wait.h, which does not go by the time of day"
    bad=1
fi
exit $bad
