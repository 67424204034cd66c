/* SPDX-License-Identifier: MIT */
#include "rewrite/callouts.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "manager/base/tick.h"
#include "record/instrument_write.h"

#define MAX_PAGES 256u /* of sites */

/* A thread's counters: a page for each SXS_INSTRUMENT_PAGE sites that it came to. */
struct counters {
    struct counters             *next; /* of those whose thread has ended: for the next one */
    struct sxs_instrument_count *pages[MAX_PAGES];
};

static SXS_TLS struct counters    *mine;
static pthread_mutex_t             lock = PTHREAD_MUTEX_INITIALIZER;
static struct counters            *idle; /* under lock */
static pthread_key_t               key;
static pthread_once_t              once = PTHREAD_ONCE_INIT;
static struct sxs_instrument_count nowhere; /* what finds no memory */

/* The numbers stay: the next thread goes on with them. */
static void thread_ended(void *counters)
{
    struct counters *c = counters;
    mine = NULL;
    pthread_mutex_lock(&lock);
    c->next = idle;
    idle = c;
    pthread_mutex_unlock(&lock);
}

static void make_key(void)
{
    pthread_key_create(&key, thread_ended);
}

static struct counters *begin_thread(void)
{
    struct counters *c;
    pthread_once(&once, make_key);
    pthread_mutex_lock(&lock);
    c = idle;
    if (c)
        idle = c->next;
    pthread_mutex_unlock(&lock);
    if (!c)
        c = calloc(1, sizeof(*c));
    if (c)
        pthread_setspecific(key, c);
    mine = c;
    return c;
}

__attribute__((noinline)) static struct sxs_instrument_count *find(uint32_t site)
{
    struct counters              *c = mine ? mine : begin_thread();
    uint32_t                      page = site / SXS_INSTRUMENT_PAGE;
    struct sxs_instrument_count **at;
    if (!c || page >= MAX_PAGES)
        return &nowhere;
    at = &c->pages[page];
    if (!*at)
        *at = sxs_instrument_counts(page * SXS_INSTRUMENT_PAGE);
    return *at ? &(*at)[site % SXS_INSTRUMENT_PAGE] : &nowhere;
}

static inline struct sxs_instrument_count *count_of(const struct sxs_marker *marker)
{
    struct counters *c = mine;
    uint32_t         page = marker->site / SXS_INSTRUMENT_PAGE;
    if (__builtin_expect(c && page < MAX_PAGES && c->pages[page], 1))
        return &c->pages[page][marker->site % SXS_INSTRUMENT_PAGE];
    return find(marker->site);
}

/* One writer: no need for an atomic addition. */
static inline void add(_Atomic uint64_t *counter, uint64_t n)
{
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + n,
                          memory_order_relaxed);
}

void sxs_callout_count(const struct sxs_marker *marker)
{
    add(&count_of(marker)->calls, 1);
}

uint64_t sxs_callout_enter(const struct sxs_marker *marker)
{
    add(&count_of(marker)->calls, 1);
    return sxs_tick();
}

uint64_t sxs_callout_end(const struct sxs_marker *marker, uint64_t entered, int threw)
{
    uint64_t                     now = sxs_tick();
    struct sxs_instrument_count *c = count_of(marker);
    add(&c->ended, 1);
    add(&c->ticks, now - entered);
    if (threw)
        add(&c->threw, 1);
    return now;
}

void sxs_callout_leave(const struct sxs_marker *marker, uint64_t entered)
{
    sxs_callout_end(marker, entered, 0);
}

void sxs_callout_threw(const struct sxs_marker *marker, uint64_t entered)
{
    sxs_callout_end(marker, entered, 1);
}

void sxs_callout_swallowed(const struct sxs_marker *marker)
{
    add(&count_of(marker)->swallowed, 1);
}

void sxs_callouts_forget(void)
{
    pthread_mutex_init(&lock, NULL);
    idle = NULL;
    if (mine)
        memset(mine, 0, sizeof(*mine));
}
