/* SPDX-License-Identifier: MIT */
#include "cmd/costs/types.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/output/must.h"
#include "cmd/output/table_hash.h"

/* Looks for the row of a type. Returns NULL if there is none: then *@at is the place for it. */
static struct sxs_cost_type *look_up(struct sxs_cost_types *t, const uint32_t key[3],
                                     uint32_t *hash, size_t *at)
{
    uint32_t number;
    *hash = (uint32_t)sxs_table_hash(key, 3 * sizeof(*key), 6);
    *at = *hash;
    if (sxs_index_reserve(&t->index) != 0)
        sxs_must(NULL);
    for (; (number = sxs_index_next(&t->index, *hash, at)) != 0; (*at)++) {
        struct sxs_cost_type *v = &t->all[number - 1];
        if (v->name == key[0] && v->runtime == key[1] && v->kind == key[2])
            return v;
    }
    return NULL;
}

struct sxs_cost_type *sxs_cost_types_find(struct sxs_cost_types *t, uint32_t name, uint32_t runtime,
                                          enum sxs_cost_kind kind)
{
    const uint32_t key[3] = {name, runtime, kind};
    uint32_t       hash;
    size_t         at;
    return look_up(t, key, &hash, &at);
}

struct sxs_cost_type *sxs_cost_types_row(struct sxs_cost_types *t, uint32_t name, uint32_t runtime,
                                         enum sxs_cost_kind kind)
{
    const uint32_t        key[3] = {name, runtime, kind};
    uint32_t              hash;
    size_t                at;
    struct sxs_cost_type *known = look_up(t, key, &hash, &at);
    if (known)
        return known;
    SXS_GROW(t->all, t->n, t->cap);
    sxs_index_put(&t->index, at, hash, t->n);
    t->all[t->n] = (struct sxs_cost_type){.name = name, .runtime = runtime, .kind = (uint8_t)kind};
    return &t->all[t->n++];
}

void sxs_cost_type_add(struct sxs_cost_type *row, const struct sxs_record_cost *v,
                       enum sxs_cost_fate fate)
{
    sxs_cost_sum_add(&row->all, v->n, v->value);
    if (fate != SXS_COST_GONE)
        sxs_cost_sum_add(&row->live, v->n, v->value);
    if (fate == SXS_COST_UNCHECKED)
        sxs_cost_sum_add(&row->unchecked, v->n, v->value);
    row->large += v->flags & SXS_COST_LARGE ? v->n : 0;
    row->pinned += v->flags & SXS_COST_PINNED ? v->n : 0;
    if (v->value > row->longest)
        row->longest = v->value;
    row->open += (v->flags & SXS_COST_OPEN) != 0;
}

double sxs_cost_type_n(const struct sxs_cost_type *row)
{
    return row->exact ? (double)row->n : row->all.n;
}

double sxs_cost_type_value(const struct sxs_cost_type *row)
{
    return row->exact ? (double)row->value : row->all.value;
}

double sxs_cost_type_large(const struct sxs_cost_type *row)
{
    return row->exact && row->exact_large ? (double)row->exact_large : row->large;
}

void sxs_cost_types_free(struct sxs_cost_types *t)
{
    free(t->all);
    sxs_index_free(&t->index);
    memset(t, 0, sizeof(*t));
}
