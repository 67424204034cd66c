/* SPDX-License-Identifier: MIT */
#include "manager/watch.h"

#include <pthread.h>
#include <stdio.h>

#include "base/fork.h"

#define WAITING 64u

/* What is waited for: read in callbacks, which may run while it changes. */
static _Atomic uint64_t longer_than_ns; /* pauses; 0: none */
static int (*_Atomic type_is_wanted)(const char *type);

/* A leaf lock: nothing is called while it is held, so a thread that waits for it does not hold up a
 * collection for longer than copying an event. */
static struct {
    pthread_mutex_t        lock;
    struct sxs_watch_event events[WAITING];
    unsigned               first, n;
    uint64_t               n_lost;
} waiting = {.lock = PTHREAD_MUTEX_INITIALIZER};
SXS_FORK_RESETS(waiting.lock);

void sxs_watch_for(const struct sxs_watch *next)
{
    atomic_store(&longer_than_ns, next ? next->pause_ns : 0);
    atomic_store(&type_is_wanted, next ? next->is_type : NULL);
    pthread_mutex_lock(&waiting.lock);
    waiting.n = 0;
    waiting.n_lost = 0;
    pthread_mutex_unlock(&waiting.lock);
}

int sxs_watch_take(struct sxs_watch_event *out, uint64_t *n_lost)
{
    int has;
    pthread_mutex_lock(&waiting.lock);
    *n_lost = waiting.n_lost;
    waiting.n_lost = 0;
    has = waiting.n != 0;
    if (has) {
        *out = waiting.events[waiting.first];
        waiting.first = (waiting.first + 1) % WAITING;
        waiting.n--;
    }
    pthread_mutex_unlock(&waiting.lock);
    return has;
}

static void add_event(const struct sxs_watch_event *event)
{
    pthread_mutex_lock(&waiting.lock);
    if (waiting.n < WAITING)
        waiting.events[(waiting.first + waiting.n++) % WAITING] = *event;
    else
        waiting.n_lost++;
    pthread_mutex_unlock(&waiting.lock);
}

void sxs_watch_pause(unsigned runtime, uint64_t time_ns, uint64_t duration_ns)
{
    uint64_t limit = atomic_load_explicit(&longer_than_ns, memory_order_relaxed);
    if (limit && duration_ns > limit)
        add_event(&(struct sxs_watch_event){
            .time_ns = time_ns, .duration_ns = duration_ns, .runtime = runtime});
}

int sxs_watch_type(const char *type)
{
    int (*is_wanted)(const char *) = atomic_load_explicit(&type_is_wanted, memory_order_acquire);
    return is_wanted && is_wanted(type);
}

void sxs_watch_exception(unsigned runtime, uint64_t time_ns, const char *type)
{
    struct sxs_watch_event event = {.time_ns = time_ns, .runtime = runtime};
    snprintf(event.type, sizeof(event.type), "%s", type);
    add_event(&event);
}
