/* SPDX-License-Identifier: MIT */
/**
 * fork.h - what a fork without exec does to this library.
 *
 * A forked child has one thread. Locks that other threads of the parent held are held for ever in the child, and what
 * they guard may be half changed. So in a child the library does nothing on behalf of the runtimes it had in the parent:
 * their callbacks reach no tool (but the one that tells whose thread is whose), they are asked nothing, nothing is
 * recorded. A runtime that is loaded in the child is guarded: its signals are routed, it is not profiled.
 *
 * On top of that every lock with static storage is made anew in the child (SXS_FORK_RESETS), so that no path, however
 * rare, can wait for a thread that does not exist there.
 *
 * One pthread_atfork() for the whole library, so the order is fixed. Before the fork: the parts' prepare(), last
 * registered first. In the child: the generation, the locks, the parts' child(), first registered first. A prepare()
 * must come to an end whatever other threads do: the thread that forks may hold any lock of the host, or be in a signal
 * handler that interrupted this library. Locks are taken with sxs_fork_take(), which gives up.
 *
 * vfork() and posix_spawn() run none of this: their child runs in the parent's memory until it calls exec.
 */
#ifndef SXS_FORK_H
#define SXS_FORK_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/base.h"

/** Do not read directly: sxs_fork_generation(). */
extern _Atomic unsigned sxs_fork_count;

/** A number that differs between a process and its forked child: what was kept of it tells whether this is still the
 *  process it was read in. Counts from the first sxs_fork_register() on. Any thread; signal-safe. */
SXS_SIGSAFE static inline unsigned sxs_fork_generation(void)
{
    return atomic_load_explicit(&sxs_fork_count, memory_order_relaxed);
}

/** What one part of the library does around a fork. Each function may be NULL. */
struct sxs_fork_part {
    void (*prepare)(void); /* in the parent, before; on the thread that forks */
    void (*parent)(void);  /* in the parent, after; only if prepare() was called */
    void (*child)(
        void); /* in the child; allocates nothing, waits for nothing. Also called when the part registered
                            * on another thread while this one forked, that is, without prepare(). */
    struct sxs_fork_part *next; /* the list's */
};

/** sxs_fork_register - @part (static storage, kept) takes part from now on. Each part once. Any thread; no lock is
 *  taken; not signal-safe. */
void sxs_fork_register(struct sxs_fork_part *part);

/** sxs_fork_take - for prepare(): try to lock @lock for a second at most. Returns 1 when it is locked, 0 when it is
 *  not: then the fork goes ahead without it. */
int sxs_fork_take(pthread_mutex_t *lock);

/** SXS_FORK_RESETS - @lock, a normal mutex with static storage, is made anew in a forked child. After its definition,
 *  at file scope or within a function. tests/lint/fork.sh looks for locks without it. */
#define SXS_FORK_RESETS(lock)       SXS_FORK_RESETS_AT(lock, __COUNTER__)
#define SXS_FORK_RESETS_AT(lock, n) SXS_FORK_RESETS_NAMED(lock, n)
#define SXS_FORK_RESETS_NAMED(lock, n)              \
    static pthread_mutex_t *const sxs_fork_lock_##n \
        __attribute__((section("sxs_fork_locks"), used)) = &(lock)

/** All locks named so: @n receives their number. For tests. */
pthread_mutex_t *const *sxs_fork_locks(size_t *n);

#endif
