/* SPDX-License-Identifier: MIT */
/* sums.c - adds samples to the sums of frames, threads, runtimes and classes, one by one. The sums
 * since the beginning are those that sxs_model_sum() calculates from the whole tree. */
#include "cmd/live/internal.h"

#include "cmd/output/must.h"

#include <string.h>

#define RING_MAX (1u << 20) /* samples in the window; more than that are not in its sums */

static void *grow_zeroed(void *list, size_t *n, size_t need, size_t each)
{
    if (need <= *n)
        return list;
    size_t more = need * 2 + 256;
    list = sxs_must(reallocarray(list, more, each));
    memset((char *)list + *n * each, 0, (more - *n) * each);
    *n = more;
    return list;
}

static void make_room(struct sxs_live_samples *s, const struct sxs_model *m)
{
    s->frames = grow_zeroed(s->frames, &s->n_frames, m->n_frames, sizeof(*s->frames));
    s->threads = grow_zeroed(s->threads, &s->n_threads, m->n_threads, sizeof(*s->threads));
    s->frame_seen =
        grow_zeroed(s->frame_seen, &s->n_frame_seen, m->n_frames, sizeof(*s->frame_seen));
}

/* The class of a sample, by its node; see sum_class() in cmd/report/model_read.c. */
static uint64_t *class_of(struct sxs_model *m, const struct sxs_model_node *n)
{
    uint32_t runtime = n->parent == SXS_NO_NODE ? 0 : m->frames[n->frame].runtime;
    if (n->flags & SXS_FRAME_OWN)
        return &m->own_ns;
    if (n->flags & SXS_FRAME_GC)
        return &m->gc_ns;
    if (n->flags & SXS_FRAME_JIT)
        return &m->jit_ns;
    return runtime ? &m->runtimes[runtime - 1].self_ns : &m->native_ns;
}

static struct sxs_live_of_runtime *of_class(struct sxs_live *l, const struct sxs_model_node *n)
{
    const struct sxs_model *m = &l->model;
    uint32_t                runtime = n->parent == SXS_NO_NODE ? 0 : m->frames[n->frame].runtime;
    if (!runtime || (n->flags & (SXS_FRAME_OWN | SXS_FRAME_GC | SXS_FRAME_JIT)))
        return NULL;
    return sxs_live_of(l, m->runtimes[runtime - 1].number);
}

static void add_to_window(struct sxs_live *l, const struct sxs_live_ringed *r, bool add)
{
    struct sxs_live_samples     *s = &l->samples;
    const struct sxs_model      *m = &l->model;
    const struct sxs_model_node *n = &m->nodes[r->node];
    struct sxs_live_of_runtime  *own = of_class(l, n);
    uint64_t                     weight = add ? r->weight_ns : 0 - r->weight_ns;
    uint64_t                     mark = ++s->n_added;
    s->window_ns += weight;
    s->threads[n->thread].first += weight;
    if (r->waiting)
        s->threads[n->thread].second += weight;
    if (own)
        own->own_ns += weight;
    if (n->parent != SXS_NO_NODE)
        s->frames[n->frame].first += weight;
    for (; n->parent != SXS_NO_NODE; n = &m->nodes[n->parent])
        if (s->frame_seen[n->frame] != mark) { /* recursion is counted once */
            s->frame_seen[n->frame] = mark;
            s->frames[n->frame].second += weight;
        }
}

/* Adds a sample to the sums since the beginning. */
static void add_to_all(struct sxs_live *l, uint32_t node, uint64_t weight)
{
    struct sxs_live_samples     *s = &l->samples;
    struct sxs_model            *m = &l->model;
    const struct sxs_model_node *n = &m->nodes[node];
    uint64_t                     mark = ++s->n_added, runtimes = 0;
    bool                         own = n->flags & SXS_FRAME_OWN;
    *class_of(m, n) += weight;
    if (n->parent != SXS_NO_NODE) {
        m->frames[n->frame].self++;
        m->frames[n->frame].self_ns += weight;
    }
    for (; n->parent != SXS_NO_NODE; n = &m->nodes[n->parent]) {
        struct sxs_model_frame *f = &m->frames[n->frame];
        if (f->runtime && f->runtime <= 64)
            runtimes |= 1ull << (f->runtime - 1);
        if (s->frame_seen[n->frame] == mark)
            continue;
        s->frame_seen[n->frame] = mark;
        f->total++;
        f->total_ns += weight;
    }
    for (; runtimes && !own; runtimes &= runtimes - 1)
        m->runtimes[__builtin_ctzll(runtimes)].total_ns += weight;
}

/* Removes the oldest sample of the window. */
static void drop_oldest(struct sxs_live *l)
{
    struct sxs_live_samples *s = &l->samples;
    add_to_window(l, &s->ring[s->ring_first], false);
    s->ring_first = (s->ring_first + 1) % s->ring_cap;
    s->ring_n--;
}

static void append_to_ring(struct sxs_live *l, const struct sxs_live_ringed *r)
{
    struct sxs_live_samples *s = &l->samples;
    if (s->ring_n == RING_MAX)
        drop_oldest(l);
    if (s->ring_n == s->ring_cap) {
        size_t                  cap = s->ring_cap ? s->ring_cap * 2 : 4096;
        struct sxs_live_ringed *ring = sxs_must_zeroed(cap, sizeof(*ring));
        for (size_t i = 0; i < s->ring_n; i++)
            ring[i] = s->ring[(s->ring_first + i) % s->ring_cap];
        free(s->ring);
        s->ring = ring;
        s->ring_cap = cap;
        s->ring_first = 0;
    }
    s->ring[(s->ring_first + s->ring_n++) % s->ring_cap] = *r;
}

void sxs_live_samples_add(struct sxs_live *l, const struct sxs_record_sample *v,
                          uint16_t collecting)
{
    struct sxs_live_samples *s = &l->samples;
    struct sxs_loaded_sample k = sxs_loader_sample(&s->loader, v, collecting, false);
    if (k.node == SXS_NO_NODE)
        return;
    make_room(s, &l->model);
    add_to_all(l, k.node, k.weight_ns);
    struct sxs_live_ringed r = {.bucket = sxs_live_bucket(l, v->time_ns + 1000000000u),
                                .weight_ns = k.weight_ns,
                                .node = k.node,
                                .waiting = v->waiting != 0};
    l->changes |= SXS_LIVE_SAMPLES;
    if (r.bucket + SXS_LIVE_BUCKETS <= l->bucket)
        return;
    append_to_ring(l, &r);
    add_to_window(l, &r, true);
}

/* Samples are nearly in the order of time: a sample that is older than the one before it leaves the
 * window together with that one. */
void sxs_live_samples_expire(struct sxs_live *l)
{
    struct sxs_live_samples *s = &l->samples;
    while (s->ring_n && s->ring[s->ring_first].bucket + SXS_LIVE_BUCKETS <= l->bucket) {
        drop_oldest(l);
        l->changes |= SXS_LIVE_SAMPLES;
    }
}
