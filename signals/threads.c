/* SPDX-License-Identifier: MIT */
/*
 * threads.c - report the start and end of each thread that pthread_create() makes to one listener.
 *
 * The listener is called on the thread itself: before the start routine runs, and again in a
 * destructor of thread-specific data, as late as possible. The start routine is entered by a jump,
 * so the thread's oldest frames are the same as without the library. Without a listener
 * pthread_create() is passed on after one load.
 */
#include "signals/router.h"

#include <errno.h>
#include <limits.h>

#include "arch/arch.h"

/** The start routine of a new thread. Two words, so that a function returns it in two registers. */
struct thread_start {
    void *(*function)(void *);
    void *argument;
};

/* A thread between pthread_create() and its first instruction. */
struct pending_thread {
    _Atomic int         taken; /* 1: in use */
    struct thread_start start;
    size_t              stack_size; /* bytes; 0: not known */
};

/* A thread for which take_pending() finds no free element is not reported. */
#define MAX_PENDING 1024
static struct pending_thread                    pending[MAX_PENDING];
static _Atomic unsigned                       next_pending; /* where the next search begins */
static _Atomic(const struct sxs_thread_watch *) watch;      /* the listener; NULL: none */
static pthread_key_t                          key; /* its value counts the rounds of destructors */

/* Returns a free element, now taken, or NULL. Examines at most 64 elements. */
static struct pending_thread *take_pending(void)
{
    unsigned at = atomic_fetch_add_explicit(&next_pending, 1, memory_order_relaxed);
    for (unsigned i = 0; i < 64; i++) {
        struct pending_thread *p = &pending[(at + i) % MAX_PENDING];
        int                    no = 0;
        if (atomic_compare_exchange_strong(&p->taken, &no, 1))
            return p;
    }
    return NULL;
}

/* Returns the size in bytes of the stack of a thread made with @attr, or 0 if it is not known. */
static size_t stack_size(const pthread_attr_t *attr)
{
    pthread_attr_t none;
    size_t         size = 0;
    if (attr)
        return pthread_attr_getstacksize(attr, &size) == 0 ? size : 0;
    if (pthread_attr_init(&none) != 0)
        return 0;
    if (pthread_attr_getstacksize(&none, &size) != 0)
        size = 0;
    pthread_attr_destroy(&none);
    return size;
}

/* The destructor of `key`. Calls the listener in the last round but one, because the destructors of
 * other keys may still use CPU time in earlier rounds. (Sanitizers use the last round.) */
static void on_thread_end(void *value)
{
    const struct sxs_thread_watch *w = atomic_load_explicit(&watch, memory_order_acquire);
    uintptr_t                      round = (uintptr_t)value;
    if (round < PTHREAD_DESTRUCTOR_ITERATIONS - 1) /* cannot fail: the key has its memory already */
        pthread_setspecific(key, (void *)(round + 1));
    else if (w)
        w->ended();
}

/** sxs_thread_begin - report the new thread, release @p, and return its start routine. Called by
 *  the trampoline below, on the new thread. */
__attribute__((used)) struct thread_start sxs_thread_begin(struct pending_thread *p);

__attribute__((used)) struct thread_start sxs_thread_begin(struct pending_thread *p)
{
    const struct sxs_thread_watch *w = atomic_load_explicit(&watch, memory_order_acquire);
    struct thread_start            start = p->start;
    uintptr_t                      here = (uintptr_t)__builtin_frame_address(0);
    uintptr_t                      top = (uintptr_t)pthread_self(); /* in glibc above all frames */
    size_t                         size = p->stack_size;
    int                            saved_errno = errno;
    atomic_store_explicit(&p->taken, 0, memory_order_release);
    if (w) {
        int inside = here < top && top - here < size;
        w->started(inside ? top - size : 0, inside ? top : 0);
        pthread_setspecific(key, (void *)1);
    }
    errno = saved_errno;
    return start;
}

/* The first function of a new thread. Calls sxs_thread_begin(), which returns the start routine and its
 * argument, and then jumps to the start routine, so that no frame is left. */
void *sxs_thread_trampoline(void *arg);
SXS_THREAD_TRAMPOLINE("sxs_thread_trampoline", "sxs_thread_begin");

int hook_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*function)(void *),
                        void *argument)
{
    struct pending_thread *p = NULL;
    int                    err;
    if (atomic_load_explicit(&watch, memory_order_acquire))
        p = take_pending();
    if (!p)
        return real.pthread_create(thread, attr, function, argument);
    p->start = (struct thread_start){function, argument};
    p->stack_size = stack_size(attr);
    err = real.pthread_create(thread, attr, sxs_thread_trampoline, p);
    if (err)
        atomic_store_explicit(&p->taken, 0, memory_order_release);
    return err;
}

int threads_watch(const struct sxs_thread_watch *w)
{
    static _Atomic int asked;
    int                err;
    if (router.off)
        return -ENOTSUP;
    if (atomic_exchange(&asked, 1))
        return -EBUSY;
    err = pthread_key_create(&key, on_thread_end);
    if (err) {
        atomic_store(&asked, 0); /* a later call may have a key */
        return -err;
    }
    atomic_store_explicit(&watch, w, memory_order_release);
    return 0;
}

SXS_SIGSAFE int threads_watched(void)
{
    return atomic_load_explicit(&watch, memory_order_relaxed) != NULL;
}

void threads_forked(void)
{
    atomic_store(&watch, NULL);
    for (unsigned i = 0; i < MAX_PENDING; i++)
        atomic_store(&pending[i].taken, 0);
}
