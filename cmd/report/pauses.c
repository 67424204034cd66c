/* SPDX-License-Identifier: MIT */
#include "cmd/report/pauses.h"

#include "cmd/output/must.h"

#include <stdlib.h>

struct collection {
    uint64_t from_ns, to_ns;
    uint32_t tid;
    uint16_t runtime;
};

struct sxs_collections {
    struct collection *all; /* owned; by thread, then time */
    size_t             n;
    struct collection *suspensions; /* owned; of all threads and reasons, by time; to_ns: the
                                     * latest end of these and earlier ones */
    size_t             n_suspensions;
};

/* COR_PRF_SUSPEND_REASON */
enum { FOR_GC = 1, FOR_GC_PREP = 7 };

static bool is_gc(unsigned reason)
{
    return reason == FOR_GC || reason == FOR_GC_PREP;
}

static int by_thread_and_time(const void *a, const void *b)
{
    const struct collection *x = a, *y = b;
    if (x->tid != y->tid)
        return x->tid < y->tid ? -1 : 1;
    return (x->from_ns > y->from_ns) - (x->from_ns < y->from_ns);
}

static int by_time(const void *a, const void *b)
{
    const struct collection *x = a, *y = b;
    return (x->from_ns > y->from_ns) - (x->from_ns < y->from_ns);
}

static uint64_t end_of(const struct sxs_model_pause *p)
{
    return p->duration_ns > UINT64_MAX - p->time_ns ? UINT64_MAX : p->time_ns + p->duration_ns;
}

static void take_suspensions(struct sxs_collections *c, const struct sxs_model *m, uint32_t process,
                             size_t first)
{
    c->suspensions = sxs_must_zeroed(m->n_pauses - first + 1, sizeof(*c->suspensions));
    for (size_t i = first; i < m->n_pauses; i++)
        if (m->pauses[i].process == process)
            c->suspensions[c->n_suspensions++] = (struct collection){
                .from_ns = m->pauses[i].time_ns, .to_ns = end_of(&m->pauses[i])};
    qsort(c->suspensions, c->n_suspensions, sizeof(*c->suspensions), by_time);
    for (size_t i = 1; i < c->n_suspensions; i++)
        if (c->suspensions[i].to_ns < c->suspensions[i - 1].to_ns)
            c->suspensions[i].to_ns = c->suspensions[i - 1].to_ns;
}

bool sxs_suspended_at(const struct sxs_collections *c, uint64_t time_ns)
{
    size_t a = 0, b = c->n_suspensions; /* the last one that began by @time_ns is just before a */
    while (a < b) {
        size_t mid = (a + b) / 2;
        if (c->suspensions[mid].from_ns <= time_ns)
            a = mid + 1;
        else
            b = mid;
    }
    return a && c->suspensions[a - 1].to_ns > time_ns;
}

struct sxs_collections *sxs_collections_new(const struct sxs_model *m, uint32_t process,
                                            size_t first)
{
    struct sxs_collections *c = sxs_must_zeroed(1, sizeof(*c));
    c->all = sxs_must_zeroed(m->n_pauses - first + 1, sizeof(*c->all));
    for (size_t i = first; i < m->n_pauses; i++) {
        const struct sxs_model_pause *p = &m->pauses[i];
        if (p->process != process || !p->tid || !p->runtime || !is_gc(p->reason))
            continue;
        c->all[c->n++] = (struct collection){p->time_ns, end_of(p), p->tid, p->runtime};
    }
    qsort(c->all, c->n, sizeof(*c->all), by_thread_and_time);
    take_suspensions(c, m, process, first);
    return c;
}

uint16_t sxs_collections_at(const struct sxs_collections *c, uint32_t tid, uint64_t time_ns)
{
    size_t a = 0, b = c->n; /* the last collection that began by @time_ns is just before a */
    while (a < b) {
        size_t                   mid = (a + b) / 2;
        const struct collection *v = &c->all[mid];
        if (v->tid < tid || (v->tid == tid && v->from_ns <= time_ns))
            a = mid + 1;
        else
            b = mid;
    }
    if (a == 0 || c->all[a - 1].tid != tid || time_ns >= c->all[a - 1].to_ns)
        return 0;
    return c->all[a - 1].runtime;
}

void sxs_collections_free(struct sxs_collections *c)
{
    free(c->all);
    free(c->suspensions);
    free(c);
}
