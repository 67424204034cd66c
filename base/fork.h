/* SPDX-License-Identifier: MIT */
/**
 * fork.h - keep the library usable in a child that was forked and does not call exec.
 *
 * A forked child has one thread. Locks that other threads of the parent held stay locked for ever
 * in the child, and the data that they guard may be half changed. So in a child the library does
 * nothing for the runtimes that it had in the parent: their callbacks reach no tool (except
 * "guard", which tracks the runtimes that each thread belongs to), the library calls no function of
 * these runtimes, and nothing is recorded. A runtime that is loaded in the child is guarded: its
 * signals are routed, but it is not profiled.
 *
 * In addition every lock with static storage is initialised again in the child (SXS_FORK_RESETS),
 * so that no code path, however rare, can wait for a thread that does not exist there.
 *
 * This file makes the one call of pthread_atfork() for all users of this header, so that the order
 * is fixed. (signals/install.c makes a call of its own.) Before the fork: prepare() of each part,
 * last registered first. In the child: the generation is incremented, the locks are initialised,
 * then child() of each part is called, first registered first. A prepare() must finish whatever
 * other threads do, because the thread that forks may hold any lock of the host, or may be in a
 * signal handler that interrupted this library. So prepare() takes locks with sxs_fork_take(),
 * which has a time limit.
 *
 * vfork() and posix_spawn() run none of this: their child runs in the parent's memory until it
 * calls exec.
 */
#ifndef SXS_BASE_FORK_H
#define SXS_BASE_FORK_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/base.h"

/** The generation. To be read by sxs_fork_generation() only. */
extern _Atomic unsigned sxs_fork_count;

/** sxs_fork_generation - return a number that differs between a process and its forked child.
 *  A caller that saved the number can tell later whether it still runs in the same process. Forks
 *  are counted from the first sxs_fork_register() on. Any thread; signal-safe. */
SXS_SIGSAFE static inline unsigned sxs_fork_generation(void)
{
    return atomic_load_explicit(&sxs_fork_count, memory_order_relaxed);
}

/** The functions that one part of the library runs around a fork. All three run on the thread that
 *  forks. Each may be NULL. */
struct sxs_fork_part {
    void (*prepare)(void); /* in the parent, before the fork */
    void (*parent)(void);  /* in the parent, after the fork; called only if prepare() was called */
    /* In the child. Must not allocate and must not wait. Called without prepare() if another thread
     * registered the part while this thread forked. */
    void (*child)(void);
    struct sxs_fork_part *next; /* list link; used by base/fork.c only */
    _Atomic int registered;     /* likewise */
};

/** sxs_fork_register - call the functions of @part around each fork from now on.
 *  @part: has static storage; the library keeps the pointer. Registering a part again has no
 *  effect. Any thread; takes no lock; not signal-safe. */
void sxs_fork_register(struct sxs_fork_part *part);

/** sxs_fork_take - try to lock @lock for at most one second. For use in prepare().
 *  Returns 1 if the lock was taken, or 0 if not; then the fork goes ahead without the lock. */
int sxs_fork_take(pthread_mutex_t *lock);

/** SXS_FORK_RESETS - initialise @lock again in a forked child. @lock is a normal mutex with static
 *  storage. The macro stands after the definition of the lock, at file scope or in a function.
 *  tests/lint/fork.sh reports locks without it. */
#define SXS_FORK_RESETS(lock)       SXS_FORK_RESETS_AT(lock, __COUNTER__)
#define SXS_FORK_RESETS_AT(lock, n) SXS_FORK_RESETS_NAMED(lock, n)
#define SXS_FORK_RESETS_NAMED(lock, n)              \
    static pthread_mutex_t *const sxs_fork_lock_##n \
        __attribute__((section("sxs_fork_locks"), used)) = &(lock)

/** sxs_fork_locks - return all locks that are declared with SXS_FORK_RESETS, for tests.
 *  @n: receives the number of locks. The result is static. */
pthread_mutex_t *const *sxs_fork_locks(size_t *n);

#endif
