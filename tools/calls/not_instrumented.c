/* SPDX-License-Identifier: MIT */
#include "tools/calls/not_instrumented.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/session_state.h"
#include "base/fork.h"
#include "base/hash.h"
#include "base/knob.h"
#include "session/write/calls_write.h"

#define SEEN_MAX  8192u /* entries of the table below, a power of two; at most half are used */
#define MAX_CELLS (32u * 1023) /* cells of all notes: 2 MiB of the file */

/* An entry of the hash table that finds the note to increment. Key, runtime and function identify
 * it. */
struct seen_function {
    uint64_t               key; /* the caller's FunctionID, or a hash of the method's name */
    uint32_t               runtime;  /* the runtime's number */
    sxs_calls_ref          function; /* the inlined function; 0: `key` is the hash of a name */
    struct sxs_calls_note *note; /* NULL: free */
};

static struct {
    pthread_mutex_t          lock; /* guards the rest; not held while a runtime is called */
    struct sxs_calls_header *header;
    void (*name)(sxs_function fn, char *out, size_t size);
    struct sxs_calls_arena   arena;
    uint32_t                 n_cells;
    struct seen_function     seen[SEEN_MAX];
    uint32_t                 n_seen;
} gaps = {.lock = PTHREAD_MUTEX_INITIALIZER};
SXS_FORK_RESETS(gaps.lock);
SXS_SESSION_KEEPS(gaps);

void sxs_gaps_init(struct sxs_calls_header *header,
                   void (*name)(sxs_function fn, char *out, size_t size))
{
    gaps.header = header;
    gaps.name = name;
}

static struct sxs_calls_note *note_locked(enum sxs_calls_note_kind kind, uint32_t runtime,
                                          sxs_calls_ref function, const char *text, size_t size)
{
    size_t                 bytes = offsetof(struct sxs_calls_note, text) + size;
    size_t                 cells = (bytes + SXS_CALLS_CELL - 1) / SXS_CALLS_CELL;
    struct sxs_calls_note *n;
    sxs_calls_ref          ref = 0;
    if (gaps.n_cells + cells <= MAX_CELLS)
        ref = sxs_calls_cells(&gaps.arena, (uint32_t)cells);
    if (!ref) {
        atomic_fetch_add(&gaps.header->notes_lost, 1);
        return NULL;
    }
    gaps.n_cells += (uint32_t)cells;
    n = sxs_calls_cell(ref);
    n->kind = kind;
    n->runtime = runtime;
    n->function = function;
    n->size = (uint32_t)size;
    memcpy((char *)n + offsetof(struct sxs_calls_note, text), text, size);
    n->next = atomic_load(&gaps.header->notes);
    atomic_store_explicit(&gaps.header->notes, ref, memory_order_release);
    return n;
}

struct sxs_calls_note *sxs_gaps_note(enum sxs_calls_note_kind kind, uint32_t runtime,
                                     const char *text, size_t size)
{
    struct sxs_calls_note *n;
    pthread_mutex_lock(&gaps.lock);
    n = note_locked(kind, runtime, 0, text, size);
    pthread_mutex_unlock(&gaps.lock);
    return n;
}

void sxs_gaps_note_runtime(const struct sxs_runtime *rt)
{
    static const enum sxs_knob knobs[] = {
        SXS_KNOB_TIERED_COMPILATION, SXS_KNOB_TIERED_PGO,           SXS_KNOB_READY_TO_RUN,
        SXS_KNOB_QUICK_JIT,          SXS_KNOB_QUICK_JIT_FOR_LOOPS,  SXS_KNOB_ON_STACK_REPLACEMENT,
        SXS_KNOB_OSR_HIT_LIMIT,      SXS_KNOB_CALL_COUNT_THRESHOLD, SXS_KNOB_JIT_MIN_OPTS,
        SXS_KNOB_FAST_TAIL_CALLS};
    char                     text[512] = "";
    size_t                   at = 0;
    struct sxs_calls_note   *n;
    for (size_t i = 0; i < ARRAY_LEN(knobs); i++)
        for (unsigned kind = 0; kind < SXS_KNOB_KINDS; kind++) {
            char        name[SXS_KNOB_SIZE];
            const char *value = sxs_knob_variable(kind, knobs[i], name);
            if (value && strlen(value) < 16)
                at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%s=%s", at ? " " : "", name,
                                       value);
            if (at >= sizeof(text))
                at = sizeof(text) - 1;
        }
    n = sxs_gaps_note(SXS_CALLS_NOTE_RUNTIME, sxs_runtime_number(rt), text, at);
    if (n)
        atomic_store(&n->count, sxs_runtime_is_attached(rt));
}

/* ---- notes with counts ----------------------------------------------------------------------- */

/* Returns the entry with these keys, or a free entry for them; NULL when the table is full. */
static struct seen_function *find_locked(uint64_t key, uint32_t runtime, sxs_calls_ref function)
{
    uint64_t hash = (key ^ (uint64_t)function << 32 ^ runtime) * UINT64_C(0x9e3779b97f4a7c15);
    for (uint32_t i = (uint32_t)(hash >> 40) & (SEEN_MAX - 1);; i = (i + 1) & (SEEN_MAX - 1)) {
        struct seen_function *k = &gaps.seen[i];
        if (!k->note)
            return gaps.n_seen < SEEN_MAX / 2 ? k : NULL;
        if (k->key == key && k->runtime == runtime && k->function == function)
            return k;
    }
}

/* Increments the note with these keys. Returns 1, or 0 when there is no such note. */
static int count_function(uint64_t key, uint32_t runtime, sxs_calls_ref function)
{
    struct seen_function *k;
    int           found;
    pthread_mutex_lock(&gaps.lock);
    k = find_locked(key, runtime, function);
    found = k && k->note;
    if (found)
        atomic_fetch_add(&k->note->count, 1);
    pthread_mutex_unlock(&gaps.lock);
    return found;
}

static void count_named(enum sxs_calls_note_kind kind, uint64_t key, uint32_t runtime,
                        sxs_calls_ref function, const char *text)
{
    struct seen_function *k;
    pthread_mutex_lock(&gaps.lock);
    k = find_locked(key, runtime, function);
    if (!k) {
        atomic_fetch_add(&gaps.header->notes_lost, 1);
    } else {
        if (!k->note) {
            k->note = note_locked(kind, runtime, function, text, strlen(text));
            k->key = key;
            k->runtime = runtime;
            k->function = function;
            gaps.n_seen += k->note != NULL;
        }
        if (k->note)
            atomic_fetch_add(&k->note->count, 1);
    }
    pthread_mutex_unlock(&gaps.lock);
}

/* Counts by name, because the runtime soon reuses the FunctionID of a dynamic method. */
void sxs_gaps_note_dynamic(sxs_function fn, char *name)
{
    uint64_t hash;
    name[strcspn(name, "(")] = '\0';
    hash = sxs_hash_text(SXS_HASH_START, name);
    count_named(SXS_CALLS_NOTE_DYNAMIC, hash, sxs_runtime_number(fn.rt), 0, name);
}

void sxs_gaps_note_inlined(const struct sxs_called *callee, sxs_function caller)
{
    char name[2048];
    if (count_function(caller.id, callee->runtime, callee->cell))
        return;
    gaps.name(caller, name, sizeof(name));
    count_named(SXS_CALLS_NOTE_INLINED, caller.id, callee->runtime, callee->cell, name);
}

void sxs_gaps_forget(const struct sxs_runtime *rt)
{
    struct seen_function *old = NULL;
    pthread_mutex_lock(&gaps.lock);
    if (gaps.n_seen)
        old = malloc(sizeof(gaps.seen));
    if (old) { /* keep the entries of other runtimes, and those whose key is a name */
        memcpy(old, gaps.seen, sizeof(gaps.seen));
        memset(gaps.seen, 0, sizeof(gaps.seen));
        gaps.n_seen = 0;
        for (size_t i = 0; i < SEEN_MAX; i++) {
            struct seen_function *k;
            if (!old[i].note || (old[i].function && old[i].runtime == sxs_runtime_number(rt)))
                continue;
            k = find_locked(old[i].key, old[i].runtime, old[i].function);
            *k = old[i];
            gaps.n_seen++;
        }
    }
    pthread_mutex_unlock(&gaps.lock);
    free(old);
}
