/* SPDX-License-Identifier: MIT */
#include "cmd/costs/types.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/output/must.h"
#include "cmd/output/strings.h"

struct sxs_cost_type *sxs_cost_types_row(struct sxs_cost_types *t, uint32_t name, uint32_t runtime,
                                         enum sxs_cost_kind kind)
{
    const uint32_t key[3] = {name, runtime, kind};
    uint32_t       hash = (uint32_t)sxs_hash_bytes(key, sizeof(key), 6), number;
    size_t         at = hash;
    if (sxs_index_reserve(&t->index) != 0)
        sxs_must(NULL);
    for (; (number = sxs_index_next(&t->index, hash, &at)) != 0; at++) {
        struct sxs_cost_type *v = &t->all[number - 1];
        if (v->name == name && v->runtime == runtime && v->kind == key[2])
            return v;
    }
    SXS_GROW(t->all, t->n, t->cap);
    sxs_index_put(&t->index, at, hash, t->n);
    t->all[t->n] = (struct sxs_cost_type){.name = name, .runtime = runtime, .kind = (uint8_t)kind};
    return &t->all[t->n++];
}

void sxs_cost_type_add(struct sxs_cost_type *row, const struct sxs_record_cost *v, bool gone)
{
    sxs_cost_sum_add(&row->all, v->n, v->value);
    if (!gone)
        sxs_cost_sum_add(&row->live, v->n, v->value);
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
