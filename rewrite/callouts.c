/* SPDX-License-Identifier: MIT */
#include "rewrite/callouts.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "manager/base/fork.h"
#include "manager/base/log.h"
#include "manager/base/tick.h"
#include "record/instrument_write.h"

#define MAX_SITES (1u << 20)

_Static_assert(offsetof(struct sxs_instrument_count, calls) == 0, "sxs_callout_count() relies on it");

/* A thread's counters, by site, a page of SXS_INSTRUMENT_PAGE at once when it comes to the first of them. Memory that is
 * mapped and hardly touched. Sites beyond all others share the last place, which stays empty. */
struct counters {
    struct sxs_instrument_count *of[MAX_SITES + 1];
    struct counters             *next; /* of those whose thread has ended: for the next one */
};

static struct counters              none; /* of a thread that has counted nothing yet; never written */
static SXS_TLS struct counters     *mine = &none;
static pthread_mutex_t              lock = PTHREAD_MUTEX_INITIALIZER;
SXS_FORK_RESETS(lock);
static struct counters             *idle; /* under lock */
static pthread_key_t                key;
static pthread_once_t               once = PTHREAD_ONCE_INIT;
static struct sxs_instrument_count  nowhere; /* what finds no memory */

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
        c = mmap(NULL, sizeof(*c), PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (c == MAP_FAILED)
        return NULL;
    pthread_setspecific(key, c);
    mine = c;
    return c;
}

void sxs_marker_set(struct sxs_marker *marker, uint32_t site)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;
    if (site >= MAX_SITES && !atomic_flag_test_and_set(&said))
        sxs_warn("tool instrument: more than %u methods: calls of further ones are not counted",
                 MAX_SITES);
    marker->site = site;
    marker->place = (site < MAX_SITES ? site : MAX_SITES) * sizeof(struct sxs_instrument_count *);
}

__attribute__((noinline, cold)) static struct sxs_instrument_count *find(size_t place)
{
    struct counters             *c = mine != &none ? mine : begin_thread();
    uint32_t                     site = (uint32_t)(place / sizeof(struct sxs_instrument_count *));
    uint32_t                     first = site - site % SXS_INSTRUMENT_PAGE;
    struct sxs_instrument_count *counts;
    if (!c || site >= MAX_SITES)
        return &nowhere;
    counts = sxs_instrument_counts(first);
    if (!counts)
        return &nowhere;
    for (uint32_t i = 0; i < SXS_INSTRUMENT_PAGE; i++)
        c->of[first + i] = &counts[i];
    return c->of[site];
}

/* One load from the thread, one from its table: this is what a call costs. */
static inline struct sxs_instrument_count *known(size_t place)
{
    return *(struct sxs_instrument_count **)((char *)mine->of + place);
}

static inline struct sxs_instrument_count *count_of(const struct sxs_marker *marker)
{
    struct sxs_instrument_count *c = known(marker->place);
    return __builtin_expect(c != NULL, 1) ? c : find(marker->place);
}

/* One writer: no need for an atomic addition. */
static inline void add(_Atomic uint64_t *counter, uint64_t n)
{
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + n,
                          memory_order_relaxed);
}

__attribute__((noinline, cold)) static void count_first(size_t place)
{
    add(&find(place)->calls, 1);
}

/*
 * What every counted call pays. Nothing is kept over the other call, so that no frame is made; the place comes as a
 * constant, and the number is changed in place by a plain address, which processors forward from one call
 * to the next at once: two loads from the marker and an addition through a register took 1 ns more.
 */
void sxs_callout_count(size_t place)
{
    struct sxs_instrument_count *c = known(place);
    if (__builtin_expect(c != NULL, 1))
        ++*(uint64_t *)(void *)c; /* its first; one writer */
    else
        count_first(place);
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
    idle = NULL;
    if (mine != &none)
        madvise(mine, sizeof(*mine), MADV_DONTNEED); /* zeroes again */
}
