/* SPDX-License-Identifier: MIT */
/* costs.c - allocations, native memory and waits for locks, by type. */
#include "cmd/live/internal.h"

#include "cmd/output/must.h"

#include <string.h>

#define UNNAMED_MAX 65536u /* with more, the rest is listed as "?" */

/* Returns the list of a kind of costs, or NULL. */
static struct sxs_live_table *table_of(struct sxs_live *l, unsigned kind)
{
    switch (kind) {
    case SXS_COST_ALLOCATION:
        l->changes |= SXS_LIVE_ALLOCATIONS;
        return &l->tables[SXS_LIVE_ALLOCATION_LIST];
    case SXS_COST_NATIVE:
        l->changes |= SXS_LIVE_ALLOCATIONS;
        return &l->tables[SXS_LIVE_NATIVE_LIST];
    case SXS_COST_LOCK: l->changes |= SXS_LIVE_LOCKS; return &l->tables[SXS_LIVE_LOCK_LIST];
    default: return NULL;
    }
}

/* The name that a cost is listed under, as sxs_cost_type_name() has it. */
static uint32_t type_name(struct sxs_live *l, uint32_t name, unsigned kind, unsigned flags)
{
    uint32_t    found = sxs_live_name_of(&l->samples.names, name);
    const char *text = "?";
    if (found)
        return found;
    if (kind == SXS_COST_NATIVE)
        text = flags & SXS_COST_MAPPED ? "mmap" : "malloc";
    return sxs_strings_add(&l->strings, text, strlen(text));
}

/* The unit of a kind's values: bytes, or ns that are shown as seconds. */
static double unit_of(unsigned kind)
{
    return kind == SXS_COST_LOCK ? 1e-9 : 1;
}

static void add_allocated(struct sxs_live *l, uint32_t runtime, uint64_t bucket, double bytes)
{
    struct sxs_live_of_runtime *of = sxs_live_of(l, runtime);
    sxs_live_track_add(&l->allocated, bucket, bytes);
    if (of)
        sxs_live_track_add(&of->allocated, bucket, bytes);
}

/* Adds @n costs of @value in all to a row. */
static void add_to(struct sxs_live_item *item, unsigned kind, uint64_t bucket, double n,
                   double value)
{
    sxs_live_track_add(&item->first, bucket, value * unit_of(kind));
    sxs_live_track_add(&item->second, bucket, n);
}

static void take_named(struct sxs_live *l, const struct sxs_record_cost *v, uint64_t offset)
{
    struct sxs_live_table *t = table_of(l, v->kind);
    if (!t)
        return;
    const uint32_t key[4] = {type_name(l, v->name, v->kind, v->flags), v->runtime, 0, 0};
    size_t         item = sxs_live_item(t, key);
    uint64_t       bucket = sxs_live_bucket(l, v->time_ns);
    double         value = v->n * (double)v->value;
    add_to(&t->all[item], v->kind, bucket, v->n, value);
    if (v->kind == SXS_COST_ALLOCATION)
        add_allocated(l, v->runtime, bucket, value);
    if (v->kind != SXS_COST_LOCK || !(v->flags & SXS_COST_OPEN))
        return;
    struct sxs_live_changing wait = {offset, item, 1, v->value, v->n};
    sxs_live_changing_add(&l->samples.open_waits, &wait);
}

static bool is_named(struct sxs_live *l, uint32_t name)
{
    return !name || l->samples.n_unnamed >= UNNAMED_MAX ||
           sxs_live_name_of(&l->samples.names, name);
}

static struct sxs_live_unnamed *add_unnamed(struct sxs_live *l, uint64_t offset)
{
    struct sxs_live_samples *s = &l->samples;
    SXS_GROW(s->unnamed, s->n_unnamed, s->cap_unnamed);
    s->unnamed[s->n_unnamed].offset = offset;
    return &s->unnamed[s->n_unnamed++];
}

void sxs_live_take_cost(struct sxs_live *l, const struct sxs_record_cost *v, uint64_t offset)
{
    if (is_named(l, v->name)) {
        take_named(l, v, offset);
        return;
    }
    struct sxs_live_unnamed *waits = add_unnamed(l, offset);
    waits->is_total = false;
    memcpy(&waits->cost, v, sizeof(*v));
}

/* Exact counts are rows of their own, beside the estimates of the same type. */
static void take_named_total(struct sxs_live *l, const struct sxs_record_total *v, uint64_t offset)
{
    struct sxs_live_table *t = table_of(l, v->kind);
    uint64_t               n = atomic_load(&v->n), value = atomic_load(&v->value);
    if (!t)
        return;
    const uint32_t key[4] = {type_name(l, v->name, v->kind, v->flags), v->runtime, 0, 1};
    size_t         item = sxs_live_item(t, key);
    t->all[item].exact = t->exact = true;
    /* What was there at the first look is not of the window. */
    add_to(&t->all[item], v->kind, l->first_look_done ? l->bucket : 0, (double)n, (double)value);
    struct sxs_live_changing total = {offset, item, n, value, v->kind};
    sxs_live_changing_add(&l->samples.totals, &total);
}

void sxs_live_take_total(struct sxs_live *l, const struct sxs_record_total *v, uint64_t offset)
{
    if (is_named(l, v->name)) {
        take_named_total(l, v, offset);
        return;
    }
    struct sxs_live_unnamed *waits = add_unnamed(l, offset);
    waits->is_total = true;
    memcpy(&waits->total, v, sizeof(*v));
}

void sxs_live_costs_named(struct sxs_live *l, bool all)
{
    struct sxs_live_samples *s = &l->samples;
    size_t                   kept = 0;
    for (size_t i = 0; i < s->n_unnamed; i++) {
        const struct sxs_live_unnamed *v = &s->unnamed[i];
        uint32_t                       name = v->is_total ? v->total.name : v->cost.name;
        if (!all && !sxs_live_name_of(&s->names, name))
            s->unnamed[kept++] = *v;
        else if (v->is_total)
            take_named_total(l, &v->total, v->offset);
        else
            take_named(l, &v->cost, v->offset);
    }
    s->n_unnamed = kept;
}

static void total_again(struct sxs_live *l, struct sxs_live_changing *c)
{
    struct sxs_record_total v;
    unsigned                kind = (unsigned)c->times;
    if (!sxs_chunk_follow_again(&l->samples.file, c->offset, SXS_RECORD_TOTAL, &v, sizeof(v)))
        return;
    uint64_t n = atomic_load(&v.n), value = atomic_load(&v.value);
    if (n < c->n || value < c->value || (n == c->n && value == c->value))
        return;
    add_to(&table_of(l, kind)->all[c->item], kind, l->bucket, (double)(n - c->n),
           (double)(value - c->value));
    c->n = n;
    c->value = value;
}

/* Returns false when the wait has ended, and is not read again. */
static bool wait_again(struct sxs_live *l, struct sxs_live_changing *c)
{
    struct sxs_record_cost v;
    if (!sxs_chunk_follow_again(&l->samples.file, c->offset, SXS_RECORD_COST, &v, sizeof(v)) ||
        v.value < c->value)
        return false;
    if (v.value > c->value)
        add_to(&table_of(l, SXS_COST_LOCK)->all[c->item], SXS_COST_LOCK, l->bucket, 0,
               c->times * (double)(v.value - c->value));
    c->value = v.value;
    return v.flags & SXS_COST_OPEN;
}

void sxs_live_costs_again(struct sxs_live *l, bool all)
{
    struct sxs_live_changings *totals = &l->samples.totals, *waits = &l->samples.open_waits;
    for (size_t i = sxs_live_changing_turn(totals, all); i-- > 0; totals->next++) {
        if (totals->next >= totals->n)
            totals->next = 0;
        total_again(l, &totals->all[totals->next]);
    }
    size_t kept = 0;
    for (size_t i = 0; i < waits->n; i++)
        if (wait_again(l, &waits->all[i]))
            waits->all[kept++] = waits->all[i];
    waits->n = kept;
}
