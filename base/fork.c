/* SPDX-License-Identifier: MIT */
#include "base/fork.h"

#include <string.h>
#include <time.h>

enum { LOOK_EVERY_US = 100, WAIT_US = 1000000 };

_Atomic unsigned sxs_fork_count;

static _Atomic(struct sxs_fork_part *) parts; /* last registered first; only ever grows */
static SXS_TLS struct sxs_fork_part
    *prepared; /* the list when this thread's fork began: several may fork at once */

/* The linker's names for both ends of the section; absent in a library without such locks. */
extern pthread_mutex_t *const __start_sxs_fork_locks[] __attribute__((weak, visibility("hidden")));
extern pthread_mutex_t *const __stop_sxs_fork_locks[] __attribute__((weak, visibility("hidden")));

pthread_mutex_t *const *sxs_fork_locks(size_t *n)
{
    *n = (size_t)(__stop_sxs_fork_locks - __start_sxs_fork_locks);
    return __start_sxs_fork_locks;
}

/* Not by pthread_mutex_clocklock(), which the thread sanitizer does not know. */
int sxs_fork_take(pthread_mutex_t *lock)
{
    struct timespec pause = {0, LOOK_EVERY_US * 1000};
    int             left = WAIT_US / LOOK_EVERY_US;
    while (pthread_mutex_trylock(lock) != 0) {
        if (left-- <= 0)
            return 0;
        nanosleep(&pause, NULL);
    }
    return 1;
}

static void preparing(void)
{
    prepared = atomic_load(&parts);
    for (struct sxs_fork_part *p = prepared; p; p = p->next)
        if (p->prepare)
            p->prepare();
}

static void first_to_last(struct sxs_fork_part *p, int in_child)
{
    if (!p)
        return;
    first_to_last(p->next, in_child); /* a handful */
    if (in_child && p->child)
        p->child();
    else if (!in_child && p->parent)
        p->parent();
}

static void parent_goes_on(void)
{
    first_to_last(prepared, 0);
}

static void child_goes_on(void)
{
    static const pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;
    size_t                       n;
    pthread_mutex_t *const      *locks = sxs_fork_locks(&n);
    atomic_fetch_add(&sxs_fork_count, 1);
    for (size_t i = 0; i < n; i++)
        memcpy(locks[i], &fresh, sizeof(fresh)); /* without looking at what it holds */
    first_to_last(atomic_load(&parts), 1);
}

static void register_once(void)
{
    pthread_atfork(preparing, parent_goes_on, child_goes_on);
}

void sxs_fork_register(struct sxs_fork_part *part)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, register_once);
    part->next = atomic_load(&parts);
    while (!atomic_compare_exchange_weak(&parts, &part->next, part))
        continue;
}
