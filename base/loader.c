/* SPDX-License-Identifier: MIT */
#include "base/loader.h"

#include <pthread.h>

#include "base/fork.h"

static pthread_mutex_t looking =
    PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP; /* made anew here, not by SXS_FORK_RESETS */
static SXS_TLS int     fork_holds;
static int unusable; /* in a child: a thread of the parent held the loader's lock during the fork */

static void preparing(void)
{
    fork_holds = sxs_fork_take(&looking);
}

static void parent_goes_on(void)
{
    if (fork_holds)
        pthread_mutex_unlock(&looking);
}

/* Its owner is a thread of the parent's. */
static void child_goes_on(void)
{
    static const pthread_mutex_t fresh = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
    looking = fresh;
    unusable |= !fork_holds;
}

static void register_once(void)
{
    static struct sxs_fork_part part = {preparing, parent_goes_on, child_goes_on, NULL};
    sxs_fork_register(&part);
}

int sxs_loader_is_usable(void)
{
    return !unusable;
}

void sxs_loader_hold(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, register_once);
    pthread_mutex_lock(&looking);
}

void sxs_loader_release(void)
{
    pthread_mutex_unlock(&looking);
}

int sxs_loader_each(int (*visit)(struct dl_phdr_info *info, size_t size, void *user), void *user)
{
    int result;
    if (unusable)
        return 0;
    sxs_loader_hold();
    result = dl_iterate_phdr(visit, user);
    sxs_loader_release();
    return result;
}
