/* SPDX-License-Identifier: MIT */
/* layout_table.c - a hash table of layouts by runtime and ClassID, written under a lock and read
 * without a lock, which base/index.h is not. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/fork.h"
#include "base/hash.h"
#include "base/session_state.h"
#include "values/layout_internal.h"

/* The table has open addressing. A used place is never freed; a deleted layout leaves
 * `forgotten`. */
struct layout_table {
    struct layout_table *older; /* previous table; not freed, because readers are not counted */
    size_t                              cap; /* a power of two */
    _Atomic(const struct sxs_layout *) at[];
};

static const struct sxs_layout forgotten;

/* An entry of the list of deleted layouts. Deleted layouts stay allocated because callers may still
 * have them; the list keeps them reachable. */
struct gone {
    struct gone             *next;
    const struct sxs_layout *layout;
};

static struct {
    pthread_mutex_t lock;  /* guards writes; not held while a runtime is called */
    _Atomic(struct layout_table *) table;
    size_t          n;     /* places used */
    struct gone    *gone;
} layouts = {.lock = PTHREAD_MUTEX_INITIALIZER};
SXS_FORK_RESETS(layouts.lock);
SXS_SESSION_KEEPS(layouts); /* readers take no lock */

SXS_SIGSAFE static size_t place_of(const struct sxs_runtime *rt, ClassID id, size_t cap)
{
    return (size_t)(sxs_hash_id((id >> 3) ^ (uintptr_t)rt) >> 24) & (cap - 1);
}

SXS_SIGSAFE const struct sxs_layout *sxs_layout_find(const struct sxs_runtime *rt, ClassID id)
{
    struct layout_table     *t = atomic_load_explicit(&layouts.table, memory_order_acquire);
    const struct sxs_layout *l;
    if (!t)
        return NULL;
    for (size_t i = place_of(rt, id, t->cap);; i = (i + 1) & (t->cap - 1)) {
        l = atomic_load_explicit(&t->at[i], memory_order_acquire);
        if (!l || (l->id == id && l->rt == rt))
            return l;
    }
}

static void put_layout(struct layout_table *t, const struct sxs_layout *l)
{
    size_t i = place_of(l->rt, l->id, t->cap);
    while (atomic_load_explicit(&t->at[i], memory_order_relaxed))
        i = (i + 1) & (t->cap - 1);
    atomic_store_explicit(&t->at[i], l, memory_order_release);
    layouts.n++;
}

static struct layout_table *grow_locked(struct layout_table *old)
{
    size_t               cap = old ? old->cap * 2 : 256;
    struct layout_table *t = calloc(1, sizeof(*t) + cap * sizeof(t->at[0]));
    if (!t)
        return NULL;
    t->older = old;
    t->cap = cap;
    layouts.n = 0;
    for (size_t i = 0; old && i < old->cap; i++) {
        const struct sxs_layout *l = atomic_load_explicit(&old->at[i], memory_order_relaxed);
        if (l && l != &forgotten)
            put_layout(t, l);
    }
    atomic_store_explicit(&layouts.table, t, memory_order_release);
    return t;
}

const struct sxs_layout *sxs_layout_keep(struct sxs_layout *fresh)
{
    const struct sxs_layout *first;
    struct layout_table     *t;
    pthread_mutex_lock(&layouts.lock);
    first = sxs_layout_find(fresh->rt, fresh->id);
    if (!first) {
        t = atomic_load_explicit(&layouts.table, memory_order_relaxed);
        if (!t || 2 * (layouts.n + 1) > t->cap)
            t = grow_locked(t);
        if (t) {
            put_layout(t, fresh);
            first = fresh;
        }
    }
    pthread_mutex_unlock(&layouts.lock);
    if (first != fresh)
        free(fresh);
    return first;
}

static void keep_gone_locked(const struct sxs_layout *l)
{
    struct gone *g = malloc(sizeof(*g));
    if (!g)
        return;
    *g = (struct gone){layouts.gone, l};
    layouts.gone = g;
}

void sxs_layout_forget(sxs_class cls)
{
    struct layout_table *t;
    pthread_mutex_lock(&layouts.lock);
    t = atomic_load_explicit(&layouts.table, memory_order_relaxed);
    for (size_t i = t ? place_of(cls.rt, cls.id, t->cap) : 0; t; i = (i + 1) & (t->cap - 1)) {
        const struct sxs_layout *l = atomic_load_explicit(&t->at[i], memory_order_relaxed);
        if (l && (l->id != cls.id || l->rt != cls.rt))
            continue;
        if (l) {
            atomic_store_explicit(&t->at[i], &forgotten, memory_order_release);
            keep_gone_locked(l);
        }
        break;
    }
    pthread_mutex_unlock(&layouts.lock);
}

SXS_SIGSAFE const struct sxs_field *sxs_layout_field(const struct sxs_layout *l, const char *name)
{
    const struct sxs_field *found = NULL;
    for (uint32_t i = 0; i < l->n_fields; i++)
        if (strcmp(l->fields[i].name, name) == 0 && (!found || l->fields[i].in == l->id))
            found = &l->fields[i];
    return found;
}

int sxs_layout_set_note(const struct sxs_layout *layout, void *note)
{
    struct sxs_layout *l = (struct sxs_layout *)(uintptr_t)layout; /* not const: was allocated */
    const void        *none = NULL;
    return atomic_compare_exchange_strong_explicit(&l->note, &none, note, memory_order_release,
                                                   memory_order_relaxed)
               ? 0
               : -1;
}

SXS_SIGSAFE const void *sxs_layout_note(const struct sxs_layout *layout)
{
    return atomic_load_explicit(&layout->note, memory_order_acquire);
}
