/* SPDX-License-Identifier: MIT */
#include "base/fork.h"

#include <string.h>
#include <time.h>

enum { LOOK_EVERY_US = 100, WAIT_US = 1000000 };

_Atomic unsigned sxs_fork_count;

/* The registered parts, last registered first. Parts are never removed. */
static _Atomic(struct sxs_fork_part *) parts;

/* The list of parts at the time this thread's fork began. Per thread, because several threads may
 * fork at the same time. */
static SXS_TLS struct sxs_fork_part *prepared;

/* The linker defines these two symbols as the ends of the section. They are absent in a library
 * that has no such locks. */
extern pthread_mutex_t *const __start_sxs_fork_locks[] __attribute__((weak, visibility("hidden")));
extern pthread_mutex_t *const __stop_sxs_fork_locks[] __attribute__((weak, visibility("hidden")));

pthread_mutex_t *const *sxs_fork_locks(size_t *n)
{
    *n = (size_t)(__stop_sxs_fork_locks - __start_sxs_fork_locks);
    return __start_sxs_fork_locks;
}

/* Polls instead of calling pthread_mutex_clocklock(), because the thread sanitizer does not support
 * that function. */
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

static void prepare_fork(void)
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
    first_to_last(p->next, in_child); /* the recursion is short: there are only a few parts */
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
        memcpy(locks[i], &fresh, sizeof(fresh)); /* whatever state the lock is in */
    first_to_last(atomic_load(&parts), 1);
}

static void register_once(void)
{
    pthread_atfork(prepare_fork, parent_goes_on, child_goes_on);
}

void sxs_fork_register(struct sxs_fork_part *part)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, register_once);
    if (atomic_exchange(&part->registered, 1))
        return;
    part->next = atomic_load(&parts);
    while (!atomic_compare_exchange_weak(&parts, &part->next, part))
        continue;
}
