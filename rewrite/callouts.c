/* SPDX-License-Identifier: MIT */
#include "rewrite/callouts.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "manager/base/tick.h"
#include "record/instrument_write.h"

#define MAX_PAGES 256u /* of sites */

/* A thread's counters: a page for each SXS_INSTRUMENT_PAGE sites that it came to. Sites beyond all
 * pages share the last place, which stays empty. */
struct counters {
    struct sxs_instrument_count *pages[MAX_PAGES + 1];
    struct counters             *next; /* of those whose thread has ended: for the next one */
};

static struct counters              none; /* of a thread that has counted nothing yet */
static SXS_TLS struct counters      *mine = &none;
static pthread_mutex_t             lock = PTHREAD_MUTEX_INITIALIZER;
static struct counters            *idle; /* under lock */
static pthread_key_t               key;
static pthread_once_t              once = PTHREAD_ONCE_INIT;
static struct sxs_instrument_count nowhere; /* what finds no memory */

/* The numbers stay: the next thread goes on with them. */
static void thread_ended(void *counters)
{
    struct counters *c = counters;
    mine = &none;
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
    if (c) {
        pthread_setspecific(key, c);
        mine = c;
    }
    return c;
}

void sxs_marker_set(struct sxs_marker *marker, uint32_t site)
{
    uint32_t page = site / SXS_INSTRUMENT_PAGE;
    marker->site = site;
    marker->page =
        (page < MAX_PAGES ? page : MAX_PAGES) * (uint32_t)sizeof(struct sxs_instrument_count *);
    marker->at = site % SXS_INSTRUMENT_PAGE * (uint32_t)sizeof(struct sxs_instrument_count);
}

/* One load from the thread, one from its table: this is what a call costs. */
static inline char *page_of(const struct sxs_marker *marker)
{
    return *(char **)((char *)mine->pages + marker->page);
}

__attribute__((noinline, cold)) static struct sxs_instrument_count *
find(const struct sxs_marker *marker)
{
    struct counters              *c = mine != &none ? mine : begin_thread();
    uint32_t                      page = marker->site / SXS_INSTRUMENT_PAGE;
    struct sxs_instrument_count **at;
    if (!c || page >= MAX_PAGES)
        return &nowhere;
    at = &c->pages[page];
    if (!*at)
        *at = sxs_instrument_counts(page * SXS_INSTRUMENT_PAGE);
    return *at ? &(*at)[marker->site % SXS_INSTRUMENT_PAGE] : &nowhere;
}

static inline struct sxs_instrument_count *count_of(const struct sxs_marker *marker)
{
    char *page = page_of(marker);
    return __builtin_expect(page != NULL, 1) ? (void *)(page + marker->at) : find(marker);
}

/* One writer: no need for an atomic addition. */
static inline void add(_Atomic uint64_t *counter, uint64_t n)
{
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + n,
                          memory_order_relaxed);
}

__attribute__((noinline, cold)) static void count_first(const struct sxs_marker *marker)
{
    add(&find(marker)->calls, 1);
}

/* Nothing is kept over the other call, so that no frame is made. */
void sxs_callout_count(const struct sxs_marker *marker)
{
    char *page = page_of(marker);
    if (__builtin_expect(page != NULL, 1))
        add(&((struct sxs_instrument_count *)(void *)(page + marker->at))->calls, 1);
    else
        count_first(marker);
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
    if (mine != &none)
        memset(mine, 0, sizeof(*mine));
}
