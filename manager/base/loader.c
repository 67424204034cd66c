/* SPDX-License-Identifier: MIT */
#include "manager/base/loader.h"

#include <pthread.h>
#include <time.h>

#include "manager/base/base.h"

enum { LOOK_EVERY_US = 100, FORK_WAITS_US = 1000000 };

static pthread_mutex_t looking = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static SXS_TLS int     fork_holds;

/* Not by pthread_mutex_clocklock(), which the thread sanitizer does not know. */
static void preparing(void)
{
    struct timespec pause = {0, LOOK_EVERY_US * 1000};
    int             left = FORK_WAITS_US / LOOK_EVERY_US;
    while (!(fork_holds = pthread_mutex_trylock(&looking) == 0) && left-- > 0)
        nanosleep(&pause, NULL);
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
}

static void register_once(void)
{
    pthread_atfork(preparing, parent_goes_on, child_goes_on);
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
    sxs_loader_hold();
    result = dl_iterate_phdr(visit, user);
    sxs_loader_release();
    return result;
}
