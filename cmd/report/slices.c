/* SPDX-License-Identifier: MIT */
#include "cmd/report/slices.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/output/must.h"
#include "cmd/output/table_hash.h"
#include "cmd/report/costs.h"
#include "cmd/report/model.h"

/* Returns the sum of a node in the slice of a record; NULL when the record is not of the period. */
static struct sxs_slice_sum *sum_of(struct sxs_slices *s, const struct sxs_samples_header *head,
                                    uint64_t time_ns, uint32_t node, const uint8_t *trace)
{
    uint64_t at_ns = head->started_realtime_ns + (time_ns - head->started_ns);
    if (at_ns < s->from_ns || (s->to_ns && at_ns >= s->to_ns))
        return NULL;
    uint64_t key[4] = {s->width_ns ? at_ns / s->width_ns : 0, node, 0, 0};
    if (trace)
        memcpy(&key[2], trace, sizeof(s->sums->trace));
    uint32_t hash = (uint32_t)sxs_table_hash(key, sizeof(key), 9), number;
    size_t   at = hash;
    if (sxs_index_reserve(&s->index) != 0)
        sxs_must(NULL);
    for (; (number = sxs_index_next(&s->index, hash, &at)) != 0; at++)
        if (s->sums[number - 1].slice == key[0] && s->sums[number - 1].node == node &&
            memcmp(s->sums[number - 1].trace, &key[2], sizeof(s->sums->trace)) == 0)
            return &s->sums[number - 1];
    SXS_GROW(s->sums, s->n, s->cap);
    s->sums[s->n] = (struct sxs_slice_sum){.slice = key[0], .node = node};
    memcpy(s->sums[s->n].trace, &key[2], sizeof(s->sums->trace));
    sxs_index_put(&s->index, at, hash, s->n);
    return &s->sums[s->n++];
}

void sxs_slices_sample(struct sxs_slices *s, const struct sxs_samples_header *head,
                       uint64_t time_ns, uint32_t node, uint64_t weight_ns, const uint8_t *trace)
{
    struct sxs_slice_sum *sum = sum_of(s, head, time_ns, node, trace);
    if (!sum)
        return;
    sum->self++;
    sum->self_ns += weight_ns;
}

void sxs_slices_cost(struct sxs_slices *s, const struct sxs_samples_header *head, uint64_t time_ns,
                     uint32_t node, double n, double value)
{
    struct sxs_slice_sum *sum = sum_of(s, head, time_ns, node, NULL);
    if (!sum)
        return;
    sum->n += n;
    sum->value += value;
}

static int by_slice(const void *a, const void *b)
{
    const struct sxs_slice_sum *x = a, *y = b;
    if (x->slice != y->slice)
        return x->slice < y->slice ? -1 : 1;
    if (x->node != y->node)
        return x->node < y->node ? -1 : 1;
    return memcmp(x->trace, y->trace, sizeof(x->trace));
}

void sxs_slices_begin(struct sxs_slices *s)
{
    if (s->n)
        qsort(s->sums, s->n, sizeof(*s->sums), by_slice);
    s->at = 0;
}

uint64_t sxs_slices_first(const struct sxs_slices *s)
{
    return s->at < s->n ? s->sums[s->at].slice : UINT64_MAX;
}

static void clear(struct sxs_model *m)
{
    for (size_t i = 0; i < m->n_nodes; i++)
        m->nodes[i].self = m->nodes[i].self_ns = 0;
    if (m->costs && m->costs->nodes)
        memset(m->costs->nodes, 0, m->costs->n_nodes * sizeof(*m->costs->nodes));
}

/* Samples of a node can have several sums, one for each trace; costs have one. */
static void add(struct sxs_model *m, const struct sxs_slice_sum *sum, double rest[2])
{
    struct sxs_model_node *node = &m->nodes[sum->node];
    node->self += sum->self;
    node->self_ns += sum->self_ns;
    if (!m->costs)
        return;
    struct sxs_cost_node *cost = &m->costs->nodes[sum->node];
    *cost = (struct sxs_cost_node){.n = sum->n, .value = sum->value};
    cost->whole[0] = sxs_cost_whole(sum->n, &rest[0]);
    cost->whole[1] = sxs_cost_whole(sum->value, &rest[1]);
    node->self = cost->whole[0];
    node->self_ns = m->costs->by_count ? node->self : cost->whole[1];
}

bool sxs_slices_apply(struct sxs_slices *s, uint64_t slice, struct sxs_model *m)
{
    clear(m);
    while (s->at < s->n && s->sums[s->at].slice < slice)
        s->at++;
    m->slice_sums = s->sums + s->at;
    for (m->n_slice_sums = 0; s->at < s->n && s->sums[s->at].slice == slice; s->at++) {
        add(m, &s->sums[s->at], s->rest);
        m->n_slice_sums++;
    }
    return m->n_slice_sums > 0;
}

void sxs_slices_free(struct sxs_slices *s)
{
    sxs_index_free(&s->index);
    free(s->sums);
    *s = (struct sxs_slices){0};
}
