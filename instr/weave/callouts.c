/* SPDX-License-Identifier: MIT */
#include "instr/weave/callouts.h"

#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "arch/arch.h"
#include "base/fork.h"
#include "base/log.h"
#include "base/session_state.h"
#include "session/write/instrument_write.h"

#define MAX_METHODS SXS_INSTRUMENTED_MAX
#define MIN_METHODS (1u << 12)
#define AS_SHARE  4096u       /* one thread's table may take 1/4096 of RLIMIT_AS */
#define STEP      (64u << 10) /* a table is made writable by as many bytes at a time */
#define PAGE      4096u

_Static_assert(offsetof(struct sxs_instrument_count, calls) == 0, "sxs_callout_count() relies on it");

/*
 * One thread's table of pointers to its counters, indexed by the number of the instrumented method.
 * The counters are allocated in pages of SXS_INSTRUMENT_PAGE, when the thread calls the first
 * method of a page. Methods numbered max_methods and above share the last element, which stays
 * NULL.
 * The memory is mapped read-only, and its beginning is made writable as far as needed, because
 * read-only anonymous memory takes no pages and does not count as committed where the system does
 * not overcommit (vm.overcommit_memory=2).
 */
struct counters {
    struct counters *next;     /* in `idle`: tables whose thread has ended */
    struct counters *next_made; /* in `made`: all tables */
    size_t           writable; /* bytes from the beginning; 0: not even the first members */
    struct sxs_instrument_count *of[MAX_METHODS + 1]; /* max_methods + 1 of them are mapped */
};

/* The table of every thread that has counted nothing yet. Never written, because find() first makes
 * a table for the thread. */
static union {
    struct counters table;
    char            pages[(sizeof(struct counters) + PAGE - 1) / PAGE * PAGE];
} empty __attribute__((aligned(PAGE)));
#define none empty.table
SXS_SESSION_KEEPS(empty);

static uint32_t                     max_methods = MAX_METHODS; /* smaller under RLIMIT_AS */
static SXS_TLS struct counters     *own_counters = &none;
static pthread_mutex_t              lock = PTHREAD_MUTEX_INITIALIZER;
SXS_FORK_RESETS(lock);
static struct counters             *idle; /* guarded by lock */
static struct counters             *made; /* guarded by lock; tables are never unmapped */
static unsigned ended = UINT_MAX; /* number of the session that was ended last; guarded by lock */
static pthread_key_t                key;
static pthread_once_t               once = PTHREAD_ONCE_INIT;
static struct sxs_instrument_count  nowhere; /* takes counts for which there is no memory */
SXS_SESSION_KEEPS(max_methods);
SXS_SESSION_KEEPS(lock);
SXS_SESSION_KEEPS(idle);
SXS_SESSION_KEEPS(made);
SXS_SESSION_KEEPS(ended);
SXS_SESSION_KEEPS(key);
SXS_SESSION_KEEPS(once);
SXS_SESSION_KEEPS(nowhere);

static size_t table_size(void)
{
    return offsetof(struct counters, of) +
           (max_methods + 1) * sizeof(struct sxs_instrument_count *);
}

/* Runs before any thread counts. The empty table lies in .bss, which counts as committed memory, so
 * a read-only mapping is put in its place. When this fails, the table in .bss is used. */
__attribute__((constructor)) static void set_limits(void)
{
    struct rlimit limit;
    (void)mmap(&empty, sizeof(empty), PROT_READ,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return;
    while (max_methods > MIN_METHODS && table_size() > limit.rlim_cur / AS_SHARE)
        max_methods /= 2;
}

/* Makes the first @end bytes of the table writable. Returns 0, or -1 (no memory). */
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

/* Forgets the calls that were in progress when the thread ended. */
static void end_calls_locked(struct counters *c)
{
    size_t n = c->writable > offsetof(struct counters, of)
                   ? (c->writable - offsetof(struct counters, of)) / sizeof(c->of[0])
                   : 0;
    for (size_t i = 0; i < n && i <= max_methods; i++)
        if (c->of[i])
            atomic_store_explicit(&c->of[i]->outermost, 0, memory_order_relaxed);
}

/* The counters keep their values. The next new thread reuses the table and adds to them. */
static void thread_ended(void *counters)
{
    struct counters *c = counters;
    own_counters = &none;
    pthread_mutex_lock(&lock);
    end_calls_locked(c);
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
        if (make_writable(c, offsetof(struct counters, of))) {
            munmap(c, table_size());
            return NULL;
        }
        pthread_mutex_lock(&lock);
        c->next_made = made;
        made = c;
        pthread_mutex_unlock(&lock);
    }
    pthread_setspecific(key, c);
    own_counters = c;
    return c;
}

void sxs_marker_set(struct sxs_marker *marker, uint32_t method_number)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;
    SXS_SESSION_KEEPS(said);
    if (method_number >= max_methods && !atomic_flag_test_and_set(&said))
        sxs_warn("tool instrument: more than %u methods: calls of further ones are not counted",
                 max_methods);
    marker->method_number = method_number;
    marker->place = (method_number < max_methods ? method_number : max_methods) *
                    sizeof(struct sxs_instrument_count *);
}

/* The slow path: makes the thread's table, and the page of counters that @place lies in. */
__attribute__((noinline, cold)) static struct sxs_instrument_count *find(size_t place)
{
    struct counters *c = own_counters != &none ? own_counters : begin_thread();
    uint32_t         method_number = (uint32_t)(place / sizeof(struct sxs_instrument_count *));
    uint32_t         first = method_number - method_number % SXS_INSTRUMENT_PAGE;
    unsigned                     session = sxs_session_generation();
    struct sxs_instrument_count *counts, *found = &nowhere;
    if (!c || method_number >= max_methods ||
        make_writable(c, offsetof(struct counters, of) +
                             (first + SXS_INSTRUMENT_PAGE) * sizeof(struct sxs_instrument_count *)))
        return &nowhere;
    counts = sxs_instrument_counts(first);
    pthread_mutex_lock(&lock);
    if (session != ended && session == sxs_session_generation()) {
        for (uint32_t i = 0; i < SXS_INSTRUMENT_PAGE; i++)
            c->of[first + i] = &counts[i];
        found = c->of[method_number];
    }
    pthread_mutex_unlock(&lock);
    return found;
}

/* Threads may count meanwhile: those that have loaded a pointer add to counters of the old file. */
static void clear_tables_locked(void)
{
    for (struct counters *c = made; c; c = c->next_made) {
        size_t n = (c->writable - offsetof(struct counters, of)) / sizeof(c->of[0]);
        for (size_t i = 0; i < n && i <= max_methods; i++)
            __atomic_store_n(&c->of[i], NULL, __ATOMIC_RELAXED);
    }
}

void sxs_callouts_begin_session(void)
{
    pthread_mutex_lock(&lock);
    clear_tables_locked();
    pthread_mutex_unlock(&lock);
}

void sxs_callouts_end_session(void)
{
    pthread_mutex_lock(&lock);
    ended = sxs_session_generation();
    clear_tables_locked();
    pthread_mutex_unlock(&lock);
}

/* The fast path: one load of thread-local storage and one of the table. NULL: not allocated yet. */
static inline struct sxs_instrument_count *find_counts(size_t place)
{
    return *(struct sxs_instrument_count **)((char *)own_counters->of + place);
}

static inline struct sxs_instrument_count *count_of(const struct sxs_marker *marker)
{
    struct sxs_instrument_count *c = find_counts(marker->place);
    return __builtin_expect(c != NULL, 1) ? c : find(marker->place);
}

/* A counter has only one writing thread, so the addition need not be atomic. */
static inline void add_count(_Atomic uint64_t *counter, uint64_t n)
{
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + n,
                          memory_order_relaxed);
}

__attribute__((noinline, cold)) static void count_first(size_t place)
{
    add_count(&find(place)->calls, 1);
}

/*
 * Every counted call runs this function, so it is written for speed. No value lives across the call
 * of count_first(), so the compiler makes no frame. The IL passes the place as a constant, and the
 * counter is incremented in memory through a plain pointer: processors forward the stored value to
 * the next call at once. Two loads from the marker and an addition in a register took 1 ns more.
 */
void sxs_callout_count(size_t place)
{
    struct sxs_instrument_count *c = find_counts(place);
    if (__builtin_expect(c != NULL, 1))
        ++*(uint64_t *)(void *)c; /* the member `calls`; only this thread writes it */
    else
        count_first(place);
}

uint64_t sxs_callout_enter(const struct sxs_marker *marker)
{
    struct sxs_instrument_count *c = count_of(marker);
    uint64_t                     now = sxs_tick();
    add_count(&c->calls, 1);
    if (!atomic_load_explicit(&c->outermost, memory_order_relaxed))
        atomic_store_explicit(&c->outermost, now, memory_order_relaxed);
    return now;
}

uint64_t sxs_callout_end(const struct sxs_marker *marker, uint64_t entered, int threw)
{
    uint64_t                     now = sxs_tick();
    struct sxs_instrument_count *c = count_of(marker);
    add_count(&c->ended, 1);
    add_count(&c->ticks, now - entered);
    if (atomic_load_explicit(&c->outermost, memory_order_relaxed) == entered) {
        add_count(&c->total, now - entered);
        atomic_store_explicit(&c->outermost, 0, memory_order_relaxed);
    }
    if (threw)
        add_count(&c->threw, 1);
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
    add_count(&count_of(marker)->swallowed, 1);
}

void sxs_callouts_forget(void)
{
    idle = NULL;
    made = NULL;
    if (own_counters != &none)
        madvise(own_counters, table_size(), MADV_DONTNEED); /* all pointers become NULL again */
}
