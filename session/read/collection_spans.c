/* SPDX-License-Identifier: MIT */
#include "session/read/collection_spans.h"

#include <errno.h>
#include <stdlib.h>

#define FOR_GC 1u /* COR_PRF_SUSPEND_FOR_GC */
#define FOR_GC_PREP \
    7u /* COR_PRF_SUSPEND_FOR_GC_PREP: the second pause of a background collection */

static int by_time(const void *a, const void *b)
{
    const struct sxs_events_span *x = a, *y = b;
    return (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
}

static void add_spans(struct sxs_events_data *e, const struct sxs_events_collection *c)
{
    struct sxs_events_span span = {.tid = c->tid, .runtime = c->runtime};
    span.kind = SXS_KIND_GC;
    span.time_ns = c->time_ns;
    span.duration_ns = c->end_ns > c->time_ns ? c->end_ns - c->time_ns : 0;
    span.pause_ns = c->pause_ns;
    span.a = c->generation;
    span.b = c->reason == SXS_GC_INDUCED || c->reason == SXS_GC_INDUCED_OPTIONAL ||
             c->reason == SXS_GC_INDUCED_COMPACTING || c->reason == SXS_GC_INDUCED_AGGRESSIVE;
    span.text = sxs_gc_reason_text(c->reason);
    e->spans[e->n_spans++] = span;
    span.kind = SXS_KIND_SUSPENSION;
    span.pause_ns = 0;
    span.text = "";
    for (unsigned i = 0; i < c->n_pauses && i < SXS_GC_PAUSES; i++) {
        span.time_ns = c->pauses[i].time_ns;
        span.duration_ns = c->pauses[i].duration_ns;
        span.a = i ? FOR_GC_PREP : FOR_GC;
        span.b = (uint32_t)(c->pauses[i].suspension_ns / 1000);
        e->spans[e->n_spans++] = span;
    }
}

int sxs_events_show_collections(struct sxs_events_data *e)
{
    struct sxs_events_span *grown;
    size_t                  need = e->n_spans + e->n_collections * (1 + SXS_GC_PAUSES);
    if (!e->n_collections || (e->head.tools & SXS_EVENTS_OF_RUNTIMES))
        return 0;
    grown = reallocarray(e->spans, need, sizeof(*grown));
    if (!grown)
        return ENOMEM;
    e->spans = grown;
    e->cap_spans = need;
    for (size_t i = 0; i < e->n_collections; i++)
        add_spans(e, &e->collections[i]);
    qsort(e->spans, e->n_spans, sizeof(*e->spans), by_time);
    e->head.tools |= SXS_EVENTS_OF_RUNTIMES;
    return 0;
}
