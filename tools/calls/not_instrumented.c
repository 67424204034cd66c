/* SPDX-License-Identifier: MIT */
#include "tools/calls/not_instrumented.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/fork.h"
#include "base/hash.h"
#include "base/index.h"
#include "base/knob.h"
#include "base/session_state.h"
#include "session/write/calls_write.h"

#define SEEN_MAX  4096u        /* elements of the array below */
#define MAX_CELLS (32u * 1023) /* cells of all notes: 2 MiB of the file */

/* What finds the note to increment: key, runtime and function identify it. */
struct seen_function {
    uint64_t               key; /* the caller's FunctionID, or a hash of the method's name */
    uint32_t               runtime;  /* the runtime's number */
    sxs_calls_ref          function; /* the inlined function; 0: `key` is the hash of a name */
    struct sxs_calls_note *note;
};

static struct {
    pthread_mutex_t          lock; /* guards the rest; not held while a runtime is called */
    struct sxs_calls_header *header;
    void (*name)(sxs_function fn, char *out, size_t size);
    struct sxs_calls_arena   arena;
    uint32_t                 n_cells;
    struct seen_function     seen[SEEN_MAX];
    uint32_t                 n_seen;
    struct sxs_index         index; /* of `seen` */
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

static uint32_t hash_of(uint64_t key, uint32_t runtime, sxs_calls_ref function)
{
    return (uint32_t)(sxs_hash_id(key ^ (uint64_t)function << 32 ^ runtime) >> 32);
}

/* Returns the note with these keys; NULL: there is none. *at: receives its place in the index; when there is none and
 * the index has room, the place for it. */
static struct sxs_calls_note *find_locked(uint64_t key, uint32_t runtime, sxs_calls_ref function,
                                          size_t *at)
{
    uint32_t hash = hash_of(key, runtime, function), number;
    for (*at = hash; (number = sxs_index_next(&gaps.index, hash, at)) != 0; (*at)++) {
        const struct seen_function *k = &gaps.seen[number - 1];
        if (k->key == key && k->runtime == runtime && k->function == function)
            return k->note;
    }
    return NULL;
}

/* Enters an element of `seen` for which the index has room. */
static void index_locked(uint32_t number)
{
    const struct seen_function *k = &gaps.seen[number];
    size_t                      at;
    find_locked(k->key, k->runtime, k->function, &at);
    sxs_index_put(&gaps.index, at, hash_of(k->key, k->runtime, k->function), number);
}

/* Increments the note with these keys. Returns 1, or 0 when there is no such note. */
static int count_function(uint64_t key, uint32_t runtime, sxs_calls_ref function)
{
    struct sxs_calls_note *note;
    size_t                 at;
    pthread_mutex_lock(&gaps.lock);
    note = find_locked(key, runtime, function, &at);
    if (note)
        atomic_fetch_add(&note->count, 1);
    pthread_mutex_unlock(&gaps.lock);
    return note != NULL;
}

/* Adds a note with these keys. Returns it, or NULL when there is no room, which is counted. */
static struct sxs_calls_note *add_locked(enum sxs_calls_note_kind kind, uint64_t key,
                                         uint32_t runtime, sxs_calls_ref function, const char *text)
{
    struct sxs_calls_note *note;
    if (gaps.n_seen == SEEN_MAX || sxs_index_reserve(&gaps.index) != 0) {
        atomic_fetch_add(&gaps.header->notes_lost, 1);
        return NULL;
    }
    note = note_locked(kind, runtime, function, text, strlen(text));
    if (note) {
        gaps.seen[gaps.n_seen] = (struct seen_function){key, runtime, function, note};
        index_locked(gaps.n_seen++);
    }
    return note;
}

static void count_named(enum sxs_calls_note_kind kind, uint64_t key, uint32_t runtime,
                        sxs_calls_ref function, const char *text)
{
    struct sxs_calls_note *note;
    size_t                 at;
    pthread_mutex_lock(&gaps.lock);
    note = find_locked(key, runtime, function, &at);
    if (!note)
        note = add_locked(kind, key, runtime, function, text);
    if (note)
        atomic_fetch_add(&note->count, 1);
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

/* Keeps the elements of other runtimes, and those whose key is a name. */
void sxs_gaps_forget(const struct sxs_runtime *rt)
{
    uint32_t n = 0;
    pthread_mutex_lock(&gaps.lock);
    sxs_index_clear(&gaps.index);
    for (uint32_t i = 0; i < gaps.n_seen; i++) {
        if (gaps.seen[i].function && gaps.seen[i].runtime == sxs_runtime_number(rt))
            continue;
        gaps.seen[n] = gaps.seen[i];
        index_locked(n++);
    }
    gaps.n_seen = n;
    pthread_mutex_unlock(&gaps.lock);
}
