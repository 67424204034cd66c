/* SPDX-License-Identifier: MIT */
#include "base/loader.h"

#include <pthread.h>

#include "base/fork.h"

/* Held by each thread that calls dl_iterate_phdr() or libunwind, and by a thread that forks.
 * Recursive, so child_goes_on() initialises it again in a child, instead of SXS_FORK_RESETS. */
static pthread_mutex_t looking = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static SXS_TLS int     fork_holds; /* 1: this thread took `looking` for the fork that it began */
/* 1: this process is a child, and a thread of the parent may have held the loader's lock or a lock
 * of libunwind during the fork. */
static int unusable;

static void prepare_fork(void)
{
    fork_holds = sxs_fork_take(&looking);
}

static void parent_goes_on(void)
{
    if (fork_holds)
        pthread_mutex_unlock(&looking);
}

/* Initialises the lock instead of unlocking it, because its owner is a thread of the parent. */
static void child_goes_on(void)
{
    static const pthread_mutex_t fresh = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
    looking = fresh;
    unusable |= !fork_holds;
}

static void register_once(void)
{
    static struct sxs_fork_part part = {
        .prepare = prepare_fork, .parent = parent_goes_on, .child = child_goes_on};
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

int sxs_loader_try_hold(void)
{
    return !unusable && pthread_mutex_trylock(&looking) == 0;
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
