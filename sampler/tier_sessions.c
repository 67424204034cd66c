/* SPDX-License-Identifier: MIT */
#include "sampler/tier_sessions.h"

#include <pthread.h>
#include <signal.h>

#include "manager/base/clock.h"
#include "manager/base/fork.h"
#include "sampler/compiled.h"
#include "sampler/early.h"

#define DELAY_NS     UINT64_C(1000000000)
#define MAX_EXPECTED 64

static struct {
    pthread_mutex_t lock; /* guards everything here; a leaf: no call inside */
    int             running;
    size_t          n;
    struct expected {
        struct sxs_sub *sub;
        uint64_t        due_ns; /* CLOCK_MONOTONIC */
    } all[MAX_EXPECTED];
} sessions = {.lock = PTHREAD_MUTEX_INITIALIZER};
SXS_FORK_RESETS(sessions.lock);

void sxs_tier_sessions_expect(struct sxs_sub *sub)
{
    int      attached = sxs_runtime_is_attached(sub->rt);
    uint64_t due_ns = sxs_now_ns(CLOCK_MONOTONIC) + (attached ? 0 : DELAY_NS);
    sxs_compiled_expect(sub->rt, !attached);
    pthread_mutex_lock(&sessions.lock);
    if (sessions.n < MAX_EXPECTED)
        sessions.all[sessions.n++] = (struct expected){sub, due_ns};
    pthread_mutex_unlock(&sessions.lock);
}

int sxs_tier_sessions_is_expected(const struct sxs_runtime *rt)
{
    int is = 0;
    pthread_mutex_lock(&sessions.lock);
    for (size_t i = 0; i < sessions.n; i++)
        is |= sessions.all[i].sub->rt == rt;
    pthread_mutex_unlock(&sessions.lock);
    return is;
}

void sxs_tier_sessions_forget(const struct sxs_runtime *rt)
{
    pthread_mutex_lock(&sessions.lock);
    for (size_t i = sessions.n; i-- > 0;)
        if (sessions.all[i].sub->rt == rt)
            sessions.all[i] = sessions.all[--sessions.n];
    pthread_mutex_unlock(&sessions.lock);
    sxs_early_end(rt);
}

static struct expected *find_due_locked(void)
{
    uint64_t now = sxs_now_ns(CLOCK_MONOTONIC);
    for (size_t i = 0; i < sessions.n; i++)
        if (now >= sessions.all[i].due_ns)
            return &sessions.all[i];
    return NULL;
}

int sxs_tier_sessions_due(void)
{
    int due;
    pthread_mutex_lock(&sessions.lock);
    due = !sessions.running && find_due_locked();
    sessions.running |= due;
    pthread_mutex_unlock(&sessions.lock);
    return due;
}

void sxs_tier_sessions_failed(void)
{
    pthread_mutex_lock(&sessions.lock);
    sessions.running = 0;
    pthread_mutex_unlock(&sessions.lock);
}

/* Takes the next one that is due out of the list, with a reference to its runtime. NULL, and the work is over: none. */
static struct sxs_sub *take_due(void)
{
    struct expected *at;
    struct sxs_sub  *sub = NULL;
    pthread_mutex_lock(&sessions.lock);
    at = find_due_locked();
    if (at) {
        sub = at->sub;
        sxs_runtime_ref(sub->rt);
        *at = sessions.all[--sessions.n];
    } else {
        sessions.running = 0;
    }
    pthread_mutex_unlock(&sessions.lock);
    return sub;
}

/* The runtime runs managed code here: it must be able to suspend this thread, and to catch its faults. The host's
 * signals stay blocked. */
static void unblock_runtime_signals(void)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT};
    sigset_t         set;
    sigemptyset(&set);
    sigaddset(&set, SIGRTMIN);
    for (size_t i = 0; i < ARRAY_LEN(faults); i++)
        sigaddset(&set, faults[i]);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

void sxs_tier_sessions_run(void)
{
    struct sxs_sub *sub;
    unblock_runtime_signals();
    while ((sub = take_due()) != NULL) {
        struct sxs_runtime *rt = sub->rt;
        sxs_compiled_start(rt);
        if (sub->low & SXS_TIER_SESSIONS_LOW)
            sxs_sub_set_mask(sub, sub->low & ~SXS_TIER_SESSIONS_LOW, sub->high);
        sxs_early_end(rt);
        sxs_runtime_unref(rt);
    }
}
