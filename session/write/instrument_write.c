/* SPDX-License-Identifier: MIT */
#include "session/write/instrument_write.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "base/clock.h"
#include "base/fork.h"
#include "base/log.h"
#include "base/session_state.h"
#include "session/write/chunks_write.h"
#include "session/write/session_write.h"

#define MAX_BYTES (UINT64_C(256) << 20)

/* A file. Instrumented code may count while a session ends, and the next one begins. */
struct file {
    struct sxs_chunks             chunks;
    struct sxs_instrument_header *header;
};

static struct file *_Atomic current_file; /* NULL: nothing is recorded */
SXS_SESSION_KEEPS(current_file);
static pthread_mutex_t room = PTHREAD_MUTEX_INITIALIZER; /* one thread makes room */
SXS_FORK_RESETS(room);
SXS_SESSION_KEEPS(room);
/* Held for two stores, so that both readings of the pair are from the same thread. */
static pthread_mutex_t clocks = PTHREAD_MUTEX_INITIALIZER;
SXS_FORK_RESETS(clocks);
SXS_SESSION_KEEPS(clocks);

/* Update the header's later pair of clock readings. */
static void take_time(struct sxs_instrument_header *header)
{
    pthread_mutex_lock(&clocks);
    atomic_store(&header->seen_tick, sxs_tick());
    atomic_store(&header->seen_ns, sxs_now_ns(CLOCK_MONOTONIC));
    pthread_mutex_unlock(&clocks);
}

/* Make room. Returns 1 when there is room, though another thread may take that room at once, or 0
 * when the file cannot grow any more. */
static int make_room(struct file *file)
{
    int has_room;
    pthread_mutex_lock(&room);
    if (sxs_chunks_make_room(&file->chunks) != 0)
        sxs_warn("the instrument file cannot grow: states and counts of more methods "
                 "are not recorded");
    has_room = !file->chunks.full && !atomic_load(&file->chunks.off);
    pthread_mutex_unlock(&room);
    return has_room;
}

int sxs_instrument_create(const struct sxs_folder *folder)
{
    struct sxs_instrument_header *h;
    struct file                  *file;
    int                           err;
    if (!folder)
        return 0;
    file = calloc(1, sizeof(*file));
    if (!file)
        return ENOMEM;
    err = sxs_chunks_create(&file->chunks, folder, SXS_INSTRUMENT_FILE, MAX_BYTES,
                            offsetof(struct sxs_instrument_header, n_chunks));
    if (err) {
        free(file);
        return err;
    }
    h = (struct sxs_instrument_header *)(void *)file->chunks.map;
    file->header = h;
    h->version = SXS_INSTRUMENT_VERSION;
    h->max_chunks = file->chunks.max_chunks;
    h->started_realtime_ns = sxs_now_ns(CLOCK_REALTIME);
    h->started_tick = sxs_tick();
    h->started_ns = sxs_now_ns(CLOCK_MONOTONIC);
    memcpy(h->command, sxs_session_open(NULL)->command, sizeof(h->command));
    take_time(h);
    memcpy(h->magic, SXS_INSTRUMENT_MAGIC, sizeof(h->magic));
    atomic_store(&current_file, file);
    return 0;
}

void sxs_instrument_keep(void)
{
    struct file *file = atomic_load(&current_file);
    if (!file)
        return;
    make_room(file);
    take_time(file->header);
}

void sxs_instrument_end(int forked)
{
    struct file *file = atomic_load(&current_file);
    if (!file)
        return;
    if (forked) {
        sxs_chunks_forget(&file->chunks);
        atomic_store(&current_file, NULL);
        return;
    }
    take_time(file->header);
    atomic_store(&file->header->ended_ns, sxs_now_ns(CLOCK_MONOTONIC));
}

void sxs_instrument_close(int is_unused)
{
    struct file *file = atomic_load(&current_file);
    if (!file)
        return;
    sxs_instrument_end(0);
    atomic_store(&current_file, NULL);
    pthread_mutex_lock(&room);
    if (is_unused)
        sxs_chunks_finish(&file->chunks);
    else
        sxs_chunks_abandon(&file->chunks);
    pthread_mutex_unlock(&room);
    if (is_unused)
        free(file);
}

/* Reserve a record of @size bytes; may wait for the file to grow. On a busy machine the thread that
 * makes room may not be scheduled in time, so several threads can be here at once, and one can take
 * the room that another made; hence the loop. Returns NULL, and counts the record as lost, when the
 * file cannot grow any more; NULL also when there is no file. */
static void *reserve_record(size_t size)
{
    struct file *file = atomic_load(&current_file);
    void        *record = NULL;
    if (!file)
        return NULL;
    do
        record = sxs_chunks_reserve(&file->chunks, size);
    while (!record && make_room(file));
    if (!record)
        atomic_fetch_add_explicit(&file->header->lost, 1, memory_order_relaxed);
    return record;
}

void sxs_instrument_method(uint32_t number, unsigned runtime, uint32_t token, const char *assembly,
                           const char *name)
{
    size_t                      a = strnlen(assembly, 1000), n = strnlen(name, 4000);
    struct sxs_instrument_method *r =
        reserve_record(offsetof(struct sxs_instrument_method, text) + a + n);
    if (!r)
        return;
    r->number = number;
    r->runtime = (uint16_t)runtime;
    r->token = token;
    r->assembly_size = (uint16_t)a;
    r->name_size = (uint16_t)n;
    memcpy((char *)r + offsetof(struct sxs_instrument_method, text), assembly, a);
    memcpy((char *)r + offsetof(struct sxs_instrument_method, text) + a, name, n);
    sxs_chunks_commit(r, SXS_INSTRUMENT_METHOD);
}

void sxs_instrument_state(uint32_t method, enum sxs_instrumented_state state, uint32_t hr,
                          const char *text)
{
    size_t                       n = strnlen(text, 1000);
    struct sxs_instrument_state *r =
        reserve_record(offsetof(struct sxs_instrument_state, text) + n);
    if (!r)
        return;
    r->time_ns = sxs_now_ns(CLOCK_MONOTONIC);
    r->method = method;
    r->state = (uint8_t)state;
    r->hr = hr;
    r->size = (uint16_t)n;
    memcpy((char *)r + offsetof(struct sxs_instrument_state, text), text, n);
    sxs_chunks_commit(r, SXS_INSTRUMENT_STATE);
}

/* Used when the file has no room for counters. All threads share them; no reader sees them. */
static struct sxs_instrument_count unkept[SXS_INSTRUMENT_PAGE];
SXS_SESSION_KEEPS(unkept);

struct sxs_instrument_count *sxs_instrument_counts(uint32_t first)
{
    struct sxs_instrument_counts *r = reserve_record(sizeof(*r));
    if (!r)
        return unkept;
    r->first = first;
    sxs_chunks_commit(r, SXS_INSTRUMENT_COUNTS);
    return r->counts;
}

void sxs_instrument_label(uint32_t method, const char *label)
{
    size_t                       n = label ? strnlen(label, 1000) : 0;
    struct sxs_instrument_label *r =
        reserve_record(offsetof(struct sxs_instrument_label, text) + n);
    if (!r)
        return;
    r->method = method;
    r->size = (uint32_t)n;
    if (n)
        memcpy((char *)r + offsetof(struct sxs_instrument_label, text), label, n);
    sxs_chunks_commit(r, SXS_INSTRUMENT_LABEL);
}

struct sxs_instrument_helper *sxs_instrument_helper(unsigned runtime, const char *text)
{
    size_t                        n = strnlen(text, 4000);
    struct sxs_instrument_helper *r =
        reserve_record(offsetof(struct sxs_instrument_helper, text) + n);
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
    struct sxs_instrument_rule *r = reserve_record(at + n + f + t);
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
    const struct file *file = atomic_load(&current_file);
    if (file)
        atomic_fetch_add(&file->header->changes, 1);
}

uint64_t sxs_instrument_begin(enum sxs_spent_kind kind)
{
    int waits = kind == SXS_SPENT_REVERT || kind == SXS_SPENT_REJIT;
    return sxs_now_ns(waits ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID);
}

void sxs_instrument_took(enum sxs_spent_kind kind, uint64_t since)
{
    const struct file           *file = atomic_load(&current_file);
    struct sxs_instrument_spent *s = file ? &file->header->spent[kind] : NULL;
    uint64_t                     ns = sxs_instrument_begin(kind) - since, longest;
    if (!s)
        return;
    atomic_fetch_add_explicit(&s->n, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&s->ns, ns, memory_order_relaxed);
    longest = atomic_load_explicit(&s->longest_ns, memory_order_relaxed);
    while (ns > longest && !atomic_compare_exchange_weak(&s->longest_ns, &longest, ns))
        ;
}
