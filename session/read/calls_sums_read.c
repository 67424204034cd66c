/* SPDX-License-Identifier: MIT */
/* calls_sums_read.c - computes the sums of each function and the quantiles of its durations. */
#include "session/read/calls_read_internal.h"
#include "base/sum.h"

#include <errno.h>
#include <stdlib.h>

/* Subtract the time of @p from the parent's time without callees. */
static void take_from_parent(struct sxs_calls *c, const struct sxs_calls_path *p)
{
    struct sxs_calls_path *parent = &c->paths[p->parent];
    parent->self_ns -= p->total_ns < parent->self_ns ? p->total_ns : parent->self_ns;
}

/* Add up the paths of each function. Paths are in depth-first order; `above` counts for each
 * function how often it is on the way from the root to the current path. In a tree total_ns is
 * added only for the outermost path of a recursion. Returns 0 or ENOMEM. */
static int add_up(struct sxs_calls *c)
{
    uint32_t *above = calloc(c->n_fns + 1, sizeof(*above)), last = SXS_CALLS_NONE;
    if (!above)
        return ENOMEM;
    for (uint32_t i = 0; i < c->n_paths; last = i++) {
        const struct sxs_calls_path *p = &c->paths[i];
        struct sxs_calls_read_function *fn = p->fn == SXS_CALLS_NONE ? NULL : &c->fns[p->fn];
        for (; last != p->parent && last != SXS_CALLS_NONE; last = c->paths[last].parent)
            if (c->paths[last].fn != SXS_CALLS_NONE)
                above[c->paths[last].fn]--;
        if (!fn)
            continue;
        sxs_sum_add(&fn->calls, p->calls);
        sxs_sum_add(&fn->unwound, p->unwound);
        sxs_sum_add(&fn->self_ns, p->self_ns);
        if (c->head.mode != SXS_CALLS_TREE || !above[p->fn])
            sxs_sum_add(&fn->total_ns, p->total_ns);
        above[p->fn]++;
    }
    free(above);
    return 0;
}

int sxs_calls_sum(struct sxs_calls *c)
{
    bool tree = c->head.mode == SXS_CALLS_TREE;
    for (size_t i = c->n_paths; tree && i-- > 0;)
        if (c->paths[i].parent != SXS_CALLS_NONE && c->paths[c->paths[i].parent].awaits)
            sxs_sum_add(&c->paths[c->paths[i].parent].total_ns, c->paths[i].total_ns);
    for (size_t i = 0; tree && i < c->n_paths; i++)
        c->paths[i].self_ns = c->paths[i].fn == SXS_CALLS_NONE ? 0 : c->paths[i].total_ns;
    for (size_t i = 0; tree && i < c->n_paths; i++)
        if (c->paths[i].parent != SXS_CALLS_NONE)
            take_from_parent(c, &c->paths[i]);
    return add_up(c);
}

uint64_t sxs_calls_bucket_ns(const struct sxs_calls *c, unsigned i)
{
    unsigned octave = i / 8;
    if (octave < 3) /* never counted: durations below 8 ticks are in octave 3 */
        return i;
    return sxs_calls_ns(c, (UINT64_C(1) << octave) +
                               (((uint64_t)(i % 8) * 2 + 1) << (octave - 3)) / 2);
}

uint64_t sxs_calls_quantile(const struct sxs_calls *c, const struct sxs_calls_read_function *fn,
                            double q)
{
    uint64_t all = 0, seen = 0, ns;
    for (unsigned i = 0; fn->buckets && i < SXS_CALLS_BUCKETS; i++)
        sxs_sum_add(&all, fn->buckets[i]);
    if (!all)
        return 0;
    for (unsigned i = 0; i < SXS_CALLS_BUCKETS; i++) {
        sxs_sum_add(&seen, fn->buckets[i]);
        if ((double)seen < q * (double)all || !seen)
            continue;
        ns = sxs_calls_bucket_ns(c, i);
        if (ns < fn->min_ns)
            return fn->min_ns;
        return ns > fn->max_ns ? fn->max_ns : ns;
    }
    return fn->max_ns;
}
