/* SPDX-License-Identifier: MIT */
#include "stackwalk/snapshot/walk_request.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fork.h"
#include "base/session_state.h"

/* States of an answer. In the state ASKED, the upper bits hold the thread's number, so that no
 * other thread takes the request. */
enum { FREE, ASKED, BUSY, DONE };

SXS_SIGSAFE static uint32_t wanted_thread(uint32_t tid)
{
    return tid << 2 | ASKED; /* thread numbers have at most 22 bits */
}

/* Once started, a handler takes a limited time, but it may have to wait for a processor. */
#define GRACE_US 200000u

/* More than one, because the handler of a thread that was stopped may never finish its answer. */
static struct sxs_walk_answer pool[4];

static pthread_mutex_t requesting = PTHREAD_MUTEX_INITIALIZER;
SXS_FORK_RESETS(requesting);
SXS_SESSION_RESETS(pool);
SXS_SESSION_KEEPS(requesting);

/* Polls instead of calling pthread_mutex_clocklock(), which the thread sanitizer does not know. */
int sxs_walk_request_hold(unsigned limit_us)
{
    const struct timespec pause = {0, 20000};
    uint64_t              until = sxs_now_ns(CLOCK_MONOTONIC) + limit_us * UINT64_C(1000);
    while (pthread_mutex_trylock(&requesting) != 0) {
        if (sxs_now_ns(CLOCK_MONOTONIC) >= until)
            return -EAGAIN;
        nanosleep(&pause, NULL);
    }
    return 0;
}

void sxs_walk_request_release(void)
{
    pthread_mutex_unlock(&requesting);
}

SXS_SIGSAFE static long futex(_Atomic uint32_t *word, int op, uint32_t value,
                              const struct timespec *limit)
{
    return syscall(SYS_futex, word, op | FUTEX_PRIVATE_FLAG, value, limit, NULL, 0);
}

SXS_SIGSAFE struct sxs_walk_answer *sxs_walk_request_take(uint32_t tid)
{
    for (size_t i = 0; i < ARRAY_LEN(pool); i++) {
        uint32_t asked = wanted_thread(tid);
        if (atomic_compare_exchange_strong(&pool[i].state, &asked, BUSY))
            return &pool[i];
    }
    return NULL;
}

SXS_SIGSAFE void sxs_walk_request_done(struct sxs_walk_answer *answer)
{
    atomic_store_explicit(&answer->state, DONE, memory_order_release);
    futex(&answer->state, FUTEX_WAKE, 1, NULL);
}

/* Waits until the state is DONE or @limit_us is over. Returns the state. */
static uint32_t await_answer(struct sxs_walk_answer *answer, unsigned limit_us)
{
    uint64_t until = sxs_now_ns(CLOCK_MONOTONIC) + limit_us * UINT64_C(1000);
    for (;;) {
        uint32_t        now = atomic_load_explicit(&answer->state, memory_order_acquire);
        uint64_t        at = sxs_now_ns(CLOCK_MONOTONIC);
        struct timespec left;
        if (now == DONE || at >= until)
            return now;
        left = sxs_timespec_of(until - at);
        futex(&answer->state, FUTEX_WAIT, now, &left);
    }
}

static struct sxs_walk_answer *find_unused(void)
{
    for (size_t i = 0; i < ARRAY_LEN(pool); i++) {
        uint32_t now = atomic_load(&pool[i].state);
        if (now == FREE || now == DONE)
            return &pool[i];
    }
    return NULL;
}

const struct sxs_walk_answer *sxs_walk_request(uint32_t tid, unsigned limit_us,
                                              int (*ask)(uint32_t tid))
{
    struct sxs_walk_answer *answer = find_unused();
    uint32_t                asked = wanted_thread(tid);
    if (!answer)
        return NULL;
    answer->n = 0;
    atomic_store_explicit(&answer->state, asked, memory_order_release);
    if (ask(tid) != 0) {
        atomic_store(&answer->state, FREE);
        return NULL;
    }
    if (await_answer(answer, limit_us) == DONE)
        return answer;
    if (atomic_compare_exchange_strong(&answer->state, &asked, FREE))
        return NULL;
    return await_answer(answer, GRACE_US) == DONE ? answer : NULL;
}
