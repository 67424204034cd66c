/* SPDX-License-Identifier: MIT */
#include "tools/calls/functions.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "base/fork.h"
#include "base/hash.h"
#include "base/index.h"
#include "base/log.h"
#include "base/session_state.h"
#include "session/write/calls_write.h"
#include "symbols/names.h"
#include "tools/calls/await.h"
#include "tools/calls/catalogue.h"
#include "tools/calls/not_instrumented.h"
#include "tools/calls/select.h"

#define BLOCK 1024u /* struct sxs_called allocated at a time; never moved, never freed */

/* The decision on a FunctionID. */
struct decision {
    uintptr_t          id;
    uint32_t           runtime; /* the runtime's number */
    uint32_t           free;    /* forgotten: 1 + the number of the next one; 0: none follows */
    struct sxs_called *called;  /* NULL: not hooked */
};

static struct {
    /* Guards namer and the functions of select.h. Held while a runtime is asked for names. Only a
     * thread for which a collection need not wait may take this lock. */
    pthread_mutex_t          naming;
    struct sxs_namer        *namer;  /* under naming */
    pthread_mutex_t          lock;   /* guards the rest; not held while a runtime is called */
    struct decision         *decisions; /* owned array */
    uint32_t                 n, room; /* of the array: used, forgotten ones included; allocated */
    uint32_t                 free;   /* list of forgotten decisions: 1 + a number; 0: empty */
    struct sxs_index         index;  /* of the decisions that are not forgotten */
    struct sxs_called       *block; /* the latest block */
    uint32_t                 n_called;
    struct sxs_calls_arena   arena;
    struct sxs_calls_header *header;
} functions = {.naming = PTHREAD_MUTEX_INITIALIZER, .lock = PTHREAD_MUTEX_INITIALIZER};
SXS_FORK_RESETS(functions.naming);
SXS_SESSION_KEEPS(functions);
SXS_FORK_RESETS(functions.lock);

/* 1 in a forked child: the calls file belongs to the parent, and the tables may be in the middle of
 * a change. */
static _Atomic int over;
SXS_SESSION_KEEPS(over);

static uint32_t hash_of(uint32_t runtime, uintptr_t id)
{
    return (uint32_t)(sxs_hash_id((id >> 3) + runtime) >> 32);
}

/* *at: receives the place in the index; when there is no decision and reserve_locked() was called, the place for one. */
static struct decision *find_locked(uint32_t runtime, uintptr_t id, size_t *at)
{
    uint32_t hash = hash_of(runtime, id), number;
    for (*at = hash; (number = sxs_index_next(&functions.index, hash, at)) != 0; (*at)++) {
        struct decision *d = &functions.decisions[number - 1];
        if (d->id == id && d->runtime == runtime)
            return d;
    }
    return NULL;
}

/* Makes room for one more decision. Returns 0 or -ENOMEM. */
static int reserve_locked(void)
{
    if (!functions.free && functions.n == functions.room) {
        uint32_t         room = functions.room ? functions.room * 2 : 1024;
        struct decision *more = reallocarray(functions.decisions, room, sizeof(*more));
        if (!more)
            return -ENOMEM;
        functions.decisions = more;
        functions.room = room;
    }
    return sxs_index_reserve(&functions.index);
}

/* Adds a decision that there is not yet. Call after reserve_locked(). */
static void keep_locked(uint32_t runtime, uintptr_t id, struct sxs_called *called)
{
    uint32_t number = functions.free ? functions.free - 1 : functions.n++;
    size_t   at;
    if (functions.free)
        functions.free = functions.decisions[number].free;
    find_locked(runtime, id, &at);
    functions.decisions[number] = (struct decision){.id = id, .runtime = runtime, .called = called};
    sxs_index_put(&functions.index, at, hash_of(runtime, id), number);
}

/* Forgets the decision at a place in the index. */
static void forget_locked(size_t at)
{
    uint32_t number = functions.index.slots[at].number - 1;
    sxs_index_remove(&functions.index, at);
    functions.decisions[number] = (struct decision){.free = functions.free};
    functions.free = number + 1;
}

/* ---- what is hooked --------------------------------------------------------------------------- */

static struct sxs_calls_function *new_record_locked(const struct sxs_selection *s,
                                                    sxs_calls_ref              *ref)
{
    size_t                     name = strnlen(s->name, 4000), file = strlen(s->file);
    size_t                     size = offsetof(struct sxs_calls_function, text) + name + file;
    struct sxs_calls_function *r;
    *ref =
        sxs_calls_cells(&functions.arena, (uint32_t)((size + SXS_CALLS_CELL - 1) / SXS_CALLS_CELL));
    if (!*ref)
        return NULL;
    r = sxs_calls_cell(*ref);
    r->token = s->token;
    r->name_size = (uint16_t)name;
    r->file_size = (uint16_t)file;
    r->first_tick = sxs_tick();
    memcpy((char *)r + offsetof(struct sxs_calls_function, text), s->name, name);
    memcpy((char *)r + offsetof(struct sxs_calls_function, text) + name, s->file, file);
    return r;
}

static struct sxs_called *new_called_locked(sxs_function fn, const struct sxs_selection *s)
{
    struct sxs_calls_function *r;
    struct sxs_called         *called;
    sxs_calls_ref              ref;
    if (functions.n_called % BLOCK == 0) {
        functions.block = calloc(BLOCK, sizeof(*functions.block));
        if (!functions.block)
            return NULL;
    }
    r = new_record_locked(s, &ref);
    if (!r)
        return NULL;
    called = &functions.block[functions.n_called % BLOCK];
    called->number = functions.n_called++;
    called->cell = ref;
    called->runtime = sxs_runtime_number(fn.rt);
    called->id = fn.id;
    called->rt = fn.rt;
    called->with_values = s->with_values;
    called->record = r;
    r->number = called->number;
    r->function = fn.id;
    r->runtime = called->runtime;
    if (s->dispatches) {
        called->off = SXS_CALLED_TAILS;
        return called; /* not in the list of functions */
    }
    r->next = atomic_load(&functions.header->functions);
    atomic_store_explicit(&functions.header->functions, ref, memory_order_release);
    atomic_fetch_add(&functions.header->n_functions, 1);
    return called;
}

/* Stores the decision on @fn. @s: NULL: @fn is not selected. Returns the marker, or NULL when @fn
 * is not hooked. If two threads decide on the same function at the same time, the first decision is
 * kept. A decision that cannot be stored means "not hooked" and is made again at the next
 * request. */
static struct sxs_called *note_decision(sxs_function fn, const struct sxs_selection *s)
{
    uint32_t           runtime = sxs_runtime_number(fn.rt);
    struct sxs_called *called = NULL;
    struct decision   *d;
    size_t             at;
    pthread_mutex_lock(&functions.lock);
    d = find_locked(runtime, fn.id, &at);
    if (d) {
        called = d->called;
    } else {
        int err = reserve_locked();
        if (!err && s)
            called = new_called_locked(fn, s);
        if (s && !called)
            atomic_fetch_add(&functions.header->functions_lost, 1);
        if (!s && !err)
            atomic_fetch_add(&functions.header->skipped, 1);
        if (!err)
            keep_locked(runtime, fn.id, called);
    }
    pthread_mutex_unlock(&functions.lock);
    return called;
}

static int follow_awaits; /* written before the first callback of a runtime; then only read */
SXS_SESSION_KEEPS(follow_awaits);

void sxs_functions_follow_awaits(void)
{
    follow_awaits = 1;
}

int sxs_functions_awaits_followed(void)
{
    return follow_awaits;
}

struct sxs_called *sxs_functions_at(sxs_calls_ref cell)
{
    const struct sxs_calls_function *r = sxs_calls_cell(cell);
    struct sxs_called               *called = NULL;
    struct decision                 *d;
    size_t                           at;
    pthread_mutex_lock(&functions.lock);
    d = find_locked(r->runtime, (uintptr_t)r->function, &at);
    if (d && d->called && d->called->cell == cell)
        called = d->called;
    pthread_mutex_unlock(&functions.lock);
    return called;
}

int sxs_functions_decide(sxs_function fn)
{
    struct sxs_selection s;
    struct sxs_called   *called;
    struct decision     *d;
    size_t               at;
    int                  hooked = 0, selected;
    if (atomic_load(&over))
        return 0;
    pthread_mutex_lock(&functions.lock);
    d = find_locked(sxs_runtime_number(fn.rt), fn.id, &at);
    if (d)
        hooked = d->called != NULL;
    pthread_mutex_unlock(&functions.lock);
    if (d)
        return hooked;
    pthread_mutex_lock(&functions.naming);
    selected = sxs_select(functions.namer, fn, &s) &&
               !(s.dispatches && functions.header->mode == SXS_CALLS_COUNT);
    called = note_decision(fn, selected ? &s : NULL);
    if (called && selected && follow_awaits && strstr(s.name, ".MoveNext("))
        sxs_await_method(called, (sxs_module){fn.rt, s.module}, s.token, s.cls);
    pthread_mutex_unlock(&functions.naming);
    return called != NULL;
}

int sxs_functions_may_inline(sxs_function fn, const struct sxs_called **out)
{
    struct sxs_called *called = sxs_functions_decide(fn) ? sxs_functions_find(fn.rt, fn.id) : NULL;
    *out = called;
    if (called)
        atomic_fetch_add_explicit(&called->record->inlining, 1, memory_order_relaxed);
    return called != NULL;
}

void sxs_functions_name(sxs_function fn, char *out, size_t size)
{
    pthread_mutex_lock(&functions.naming);
    sxs_namer_function(functions.namer, fn, out, size);
    pthread_mutex_unlock(&functions.naming);
}

void sxs_functions_module(sxs_module module)
{
    const struct sxs_selected_module *known;
    pthread_mutex_lock(&functions.naming);
    known = sxs_select_module(module);
    if (known)
        sxs_catalogue(module, known);
    pthread_mutex_unlock(&functions.naming);
}

struct sxs_called *sxs_functions_find(const struct sxs_runtime *rt, FunctionID id)
{
    struct sxs_called *called;
    struct decision   *d;
    size_t             at;
    if (atomic_load(&over))
        return NULL;
    pthread_mutex_lock(&functions.lock);
    d = find_locked(sxs_runtime_number(rt), id, &at);
    called = d ? d->called : NULL;
    pthread_mutex_unlock(&functions.lock);
    return called;
}

/* ---- back-off --------------------------------------------------------------------------------- */

static struct {
    unsigned hz, ns, every;
} limits;
SXS_SESSION_KEEPS(limits);

void sxs_functions_limits(unsigned hz, unsigned ns, unsigned every)
{
    limits.hz = hz;
    limits.ns = ns;
    limits.every = every;
}

void sxs_functions_back_off(struct sxs_called *fn, uint64_t ticks)
{
    const struct sxs_calls_header *h = functions.header;
    uint64_t                       now = sxs_tick(), last = atomic_exchange(&fn->looked, now);
    uint64_t                       ns = atomic_load(&h->seen_ns) - h->started_ns;
    double per_ns = ns ? (double)(atomic_load(&h->seen_tick) - h->started_tick) / (double)ns : 0;
    if (!limits.hz || fn->with_values || !last || per_ns <= 0 ||
        (double)ticks >= per_ns * limits.ns ||
        (double)(now - last) >= per_ns * 1e9 * limits.every / limits.hz)
        return;
    atomic_store(&fn->record->backed_off, 1);
    atomic_fetch_or_explicit(&fn->off, SXS_CALLED_OFF, memory_order_relaxed);
}

void sxs_functions_forget(sxs_function fn)
{
    size_t at;
    if (atomic_load(&over))
        return;
    pthread_mutex_lock(&functions.lock);
    if (find_locked(sxs_runtime_number(fn.rt), fn.id, &at))
        forget_locked(at);
    pthread_mutex_unlock(&functions.lock);
}

void sxs_functions_close(const struct sxs_runtime *rt)
{
    if (atomic_load(&over))
        return;
    pthread_mutex_lock(&functions.naming);
    sxs_namer_reset(functions.namer);
    sxs_select_forget(rt);
    sxs_gaps_forget(rt);
    pthread_mutex_unlock(&functions.naming);
}

void sxs_functions_end(void)
{
    atomic_store(&over, 1);
}

int sxs_functions_init(struct sxs_calls_header *header)
{
    functions.header = header;
    sxs_gaps_init(header, sxs_functions_name);
    functions.namer = sxs_namer_new();
    if (!functions.namer)
        return -ENOMEM;
    return sxs_select_init();
}
