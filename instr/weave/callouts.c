/* SPDX-License-Identifier: MIT */
#include "instr/weave/callouts.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "base/fork.h"
#include "base/log.h"
#include "base/tick.h"
#include "session/write/instrument_write.h"

#define MAX_SITES SXS_SITES_MAX
#define MIN_SITES (1u << 12)
#define AS_SHARE  4096u       /* part of RLIMIT_AS that one thread's table may take */
#define STEP      (64u << 10) /* bytes of a table that become writable at once */
#define PAGE      4096u

_Static_assert(offsetof(struct sxs_instrument_count, calls) == 0, "sxs_callout_count() relies on it");

/*
 * A thread's counters, by site, a page of SXS_INSTRUMENT_PAGE at once when it comes to the first of them. Sites beyond
 * max_sites share the last place, which stays empty. The memory is mapped for reading, and its beginning is made writable
 * as far as it is needed: read-only anonymous memory takes no page, and does not count as committed
 * where the system does not overcommit (vm.overcommit_memory=2).
 */
struct counters {
    struct counters *next;     /* of those whose thread has ended: for the next one */
    size_t           writable; /* bytes from the beginning; 0: not even the first two members */
    struct sxs_instrument_count *of[MAX_SITES + 1]; /* mapped: max_sites + 1 of them */
};

/* Of a thread that has counted nothing yet. Never written: find() makes a table of the thread's own first. */
static union {
    struct counters table;
    char            pages[(sizeof(struct counters) + PAGE - 1) / PAGE * PAGE];
} empty __attribute__((aligned(PAGE)));
#define none empty.table

static uint32_t                     max_sites = MAX_SITES; /* fewer under RLIMIT_AS */
static SXS_TLS struct counters     *mine = &none;
static pthread_mutex_t              lock = PTHREAD_MUTEX_INITIALIZER;
SXS_FORK_RESETS(lock);
static struct counters             *idle; /* under lock */
static pthread_key_t                key;
static pthread_once_t               once = PTHREAD_ONCE_INIT;
static struct sxs_instrument_count  nowhere; /* what finds no memory */

static size_t table_size(void)
{
    return offsetof(struct counters, of) + (max_sites + 1) * sizeof(struct sxs_instrument_count *);
}

/* Before any thread counts. The empty table lies in .bss, which counts as committed; a read-only mapping in its place
 * does not. Where that fails, it stays as it is. */
__attribute__((constructor)) static void set_limits(void)
{
    struct rlimit limit;
    (void)mmap(&empty, sizeof(empty), PROT_READ,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return;
    while (max_sites > MIN_SITES && table_size() > limit.rlim_cur / AS_SHARE)
        max_sites /= 2;
}

/* Makes the table writable up to @end. Returns 0 or -1 (no memory). */
static int make_writable(struct counters *c, size_t end)
{
    size_t writable = (end + STEP - 1) / STEP * STEP;
    if (end <= c->writable)
        return 0;
    if (mprotect(c, writable < table_size() ? writable : table_size(), PROT_READ | PROT_WRITE))
        return -1;
    c->writable = writable;
    return 0;
}

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
    if (!c) {
        c = mmap(NULL, table_size(), PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (c == MAP_FAILED)
            return NULL;
        if (make_writable(c, sizeof(c->next) + sizeof(c->writable))) {
            munmap(c, table_size());
            return NULL;
        }
    }
    pthread_setspecific(key, c);
    mine = c;
    return c;
}

void sxs_marker_set(struct sxs_marker *marker, uint32_t site)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;
    if (site >= max_sites && !atomic_flag_test_and_set(&said))
        sxs_warn("tool instrument: more than %u methods: calls of further ones are not counted",
                 max_sites);
    marker->site = site;
    marker->place = (site < max_sites ? site : max_sites) * sizeof(struct sxs_instrument_count *);
}

__attribute__((noinline, cold)) static struct sxs_instrument_count *find(size_t place)
{
    struct counters             *c = mine != &none ? mine : begin_thread();
    uint32_t                     site = (uint32_t)(place / sizeof(struct sxs_instrument_count *));
    uint32_t                     first = site - site % SXS_INSTRUMENT_PAGE;
    struct sxs_instrument_count *counts;
    if (!c || site >= max_sites ||
        make_writable(c, offsetof(struct counters, of) +
                             (first + SXS_INSTRUMENT_PAGE) * sizeof(struct sxs_instrument_count *)))
        return &nowhere;
    counts = sxs_instrument_counts(first);
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
        madvise(mine, table_size(), MADV_DONTNEED); /* zeroes again */
}
