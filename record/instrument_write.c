/* SPDX-License-Identifier: MIT */
#include "record/instrument_write.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "manager/base/clock.h"
#include "manager/base/fork.h"
#include "manager/base/log.h"
#include "manager/base/tick.h"
#include "record/chunks_write.h"
#include "record/session_write.h"

#define MAX_BYTES (UINT64_C(256) << 20)

static struct sxs_chunks             chunks;
static struct sxs_instrument_header *header; /* NULL: nothing is recorded */
static pthread_mutex_t               room = PTHREAD_MUTEX_INITIALIZER; /* one thread makes it */
SXS_FORK_RESETS(room);
static pthread_mutex_t clocks = PTHREAD_MUTEX_INITIALIZER; /* for two stores: one thread's pair of readings */
SXS_FORK_RESETS(clocks);

static void take_time(void)
{
    pthread_mutex_lock(&clocks);
    atomic_store(&header->seen_tick, sxs_tick());
    atomic_store(&header->seen_ns, sxs_now_ns(CLOCK_MONOTONIC));
    pthread_mutex_unlock(&clocks);
}

/* Returns 1 when there is room, which another thread may take at once, or 0 when the file has reached its limit. */
static int make_room(void)
{
    int has_room;
    pthread_mutex_lock(&room);
    if (sxs_chunks_make_room(&chunks) != 0)
        sxs_warn("the instrument file cannot grow: states and counts of more methods "
                 "are not recorded");
    has_room = !chunks.full && !atomic_load(&chunks.off);
    pthread_mutex_unlock(&room);
    return has_room;
}

int sxs_instrument_create(const struct sxs_folder *folder)
{
    struct sxs_instrument_header *h;
    int                           err;
    if (!folder)
        return 0;
    err = sxs_chunks_create(&chunks, folder, SXS_INSTRUMENT_FILE, MAX_BYTES,
                            offsetof(struct sxs_instrument_header, n_chunks));
    if (err)
        return err;
    h = (struct sxs_instrument_header *)(void *)chunks.map;
    h->version = SXS_INSTRUMENT_VERSION;
    h->max_chunks = chunks.max_chunks;
    h->started_realtime_ns = sxs_now_ns(CLOCK_REALTIME);
    h->started_tick = sxs_tick();
    h->started_ns = sxs_now_ns(CLOCK_MONOTONIC);
    memcpy(h->command, sxs_session_open(NULL)->command, sizeof(h->command));
    header = h;
    take_time();
    memcpy(h->magic, SXS_INSTRUMENT_MAGIC, sizeof(h->magic));
    return 0;
}

void sxs_instrument_keep(void)
{
    if (!header)
        return;
    make_room();
    take_time();
}

void sxs_instrument_end(int forked)
{
    if (!header)
        return;
    if (forked) {
        sxs_chunks_forget(&chunks);
        header = NULL;
        return;
    }
    take_time();
    atomic_store(&header->ended_ns, sxs_now_ns(CLOCK_MONOTONIC));
}

/* Room for a record of @size bytes; the caller may wait for the file to grow. The thread that makes room ahead of time may
 * not be scheduled on a busy machine, so several threads can come here at once, and one can take what another made. NULL
 * (counted as lost) only when the file has reached its limit, or there is no file. */
static void *reserve(size_t size)
{
    void *record = NULL;
    if (!header)
        return NULL;
    do
        record = sxs_chunks_reserve(&chunks, size);
    while (!record && make_room());
    if (!record)
        atomic_fetch_add_explicit(&header->lost, 1, memory_order_relaxed);
    return record;
}

void sxs_instrument_site(uint32_t number, unsigned runtime, uint32_t token, const char *assembly,
                         const char *name)
{
    size_t                      a = strnlen(assembly, 1000), n = strnlen(name, 4000);
    struct sxs_instrument_site *r =
        reserve(offsetof(struct sxs_instrument_site, text) + a + n);
    if (!r)
        return;
    r->number = number;
    r->runtime = (uint16_t)runtime;
    r->token = token;
    r->assembly_size = (uint16_t)a;
    r->name_size = (uint16_t)n;
    memcpy((char *)r + offsetof(struct sxs_instrument_site, text), assembly, a);
    memcpy((char *)r + offsetof(struct sxs_instrument_site, text) + a, name, n);
    sxs_chunks_commit(r, SXS_INSTRUMENT_SITE);
}

void sxs_instrument_state(uint32_t site, enum sxs_site_state state, uint32_t hr, const char *text)
{
    size_t                       n = strnlen(text, 1000);
    struct sxs_instrument_state *r =
        reserve(offsetof(struct sxs_instrument_state, text) + n);
    if (!r)
        return;
    r->time_ns = sxs_now_ns(CLOCK_MONOTONIC);
    r->site = site;
    r->state = (uint8_t)state;
    r->hr = hr;
    r->size = (uint16_t)n;
    memcpy((char *)r + offsetof(struct sxs_instrument_state, text), text, n);
    sxs_chunks_commit(r, SXS_INSTRUMENT_STATE);
}

/* Counters that find no room in the file: all threads share them, and nobody reads them. */
static struct sxs_instrument_count unkept[SXS_INSTRUMENT_PAGE];

struct sxs_instrument_count *sxs_instrument_counts(uint32_t first)
{
    struct sxs_instrument_counts *r = reserve(sizeof(*r));
    if (!r)
        return unkept;
    r->first = first;
    sxs_chunks_commit(r, SXS_INSTRUMENT_COUNTS);
    return r->counts;
}

void sxs_instrument_label(uint32_t site, const char *label)
{
    size_t                       n = label ? strnlen(label, 1000) : 0;
    struct sxs_instrument_label *r =
        reserve(offsetof(struct sxs_instrument_label, text) + n);
    if (!r)
        return;
    r->site = site;
    r->size = (uint32_t)n;
    if (n)
        memcpy((char *)r + offsetof(struct sxs_instrument_label, text), label, n);
    sxs_chunks_commit(r, SXS_INSTRUMENT_LABEL);
}

struct sxs_instrument_helper *sxs_instrument_helper(unsigned runtime, const char *text)
{
    size_t                        n = strnlen(text, 4000);
    struct sxs_instrument_helper *r =
        reserve(offsetof(struct sxs_instrument_helper, text) + n);
    if (!r)
        return NULL;
    r->runtime = (uint16_t)runtime;
    r->size = (uint16_t)n;
    memcpy((char *)r + offsetof(struct sxs_instrument_helper, text), text, n);
    sxs_chunks_commit(r, SXS_INSTRUMENT_HELPER);
    return r;
}

void sxs_instrument_rule(const struct sxs_instrument_rule *rule, const char *name, const char *file,
                         const char *text)
{
    size_t n = strnlen(name, 500), f = strnlen(file, 1000), t = strnlen(text, 1000);
    size_t at = offsetof(struct sxs_instrument_rule, text);
    struct sxs_instrument_rule *r = reserve(at + n + f + t);
    if (!r)
        return;
    r->number = rule->number;
    r->line = rule->line;
    r->without_il = rule->without_il;
    r->matched = rule->matched;
    r->gone = rule->gone;
    r->name_size = (uint16_t)n;
    r->file_size = (uint16_t)f;
    r->text_size = (uint16_t)t;
    memcpy((char *)r + at, name, n);
    memcpy((char *)r + at + n, file, f);
    memcpy((char *)r + at + n + f, text, t);
    sxs_chunks_commit(r, SXS_INSTRUMENT_RULE);
}

void sxs_instrument_changed(void)
{
    if (header)
        atomic_fetch_add(&header->changes, 1);
}

uint64_t sxs_instrument_begin(enum sxs_spent_kind kind)
{
    int waits = kind == SXS_SPENT_REVERT || kind == SXS_SPENT_REJIT;
    return sxs_now_ns(waits ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID);
}

void sxs_instrument_took(enum sxs_spent_kind kind, uint64_t since)
{
    struct sxs_instrument_spent *s = header ? &header->spent[kind] : NULL;
    uint64_t                     ns = sxs_instrument_begin(kind) - since, longest;
    if (!s)
        return;
    atomic_fetch_add_explicit(&s->n, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&s->ns, ns, memory_order_relaxed);
    longest = atomic_load_explicit(&s->longest_ns, memory_order_relaxed);
    while (ns > longest && !atomic_compare_exchange_weak(&s->longest_ns, &longest, ns))
        ;
}
