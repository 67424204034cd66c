/* SPDX-License-Identifier: MIT */
/* Thread pools on the timeline. */
#include "cmd/report/timeline.h"

#include "cmd/output/must.h"
#include "cmd/report/format.h"

#include <stdlib.h>
#include <string.h>

static int by_runtime_and_time(const void *a, const void *b)
{
    const struct sxs_model_pool *x = a, *y = b;
    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    if (x->runtime != y->runtime)
        return x->runtime < y->runtime ? -1 : 1;
    return (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
}

static bool is_wanted(const struct sxs_model *m, const struct sxs_report_options *o,
                      const struct sxs_model_pool *p)
{
    return p->runtime && (!o->runtime || m->runtimes[p->runtime - 1].number == o->runtime);
}

/* Adds a pool with the changes [@from, @to) of @all, which are those of one runtime. */
static void add_pool(struct sxs_timeline *t, const struct sxs_model_pool *all, size_t from,
                     size_t to)
{
    struct sxs_line_pool *p = &t->pools[t->n_pools++];
    *p = (struct sxs_line_pool){
        .process = all[from].process, .runtime = all[from].runtime, .n = to - from};
    p->changes = sxs_must_zeroed(p->n, sizeof(*p->changes));
    memcpy(p->changes, &all[from], p->n * sizeof(*all));
}

void sxs_timeline_take_pools(struct sxs_timeline *t, const struct sxs_model *m,
                             const struct sxs_report_options *o)
{
    struct sxs_model_pool *all = sxs_must_zeroed(m->n_pools + 1, sizeof(*all));
    size_t                 n = 0;
    for (size_t i = 0; i < m->n_pools; i++)
        if (is_wanted(m, o, &m->pools[i]))
            all[n++] = m->pools[i];
    qsort(all, n, sizeof(*all), by_runtime_and_time);
    t->pools = sxs_must_zeroed(n + 1, sizeof(*t->pools));
    for (size_t from = 0, to = 0; from < n; from = to) {
        while (to < n && all[to].process == all[from].process &&
               all[to].runtime == all[from].runtime)
            to++;
        add_pool(t, all, from, to);
    }
    free(all);
}

void sxs_timeline_free_pools(struct sxs_timeline *t)
{
    for (size_t i = 0; i < t->n_pools; i++)
        free(t->pools[i].changes);
    free(t->pools);
}

static const char *reason_text(unsigned reason)
{
    static const char *const texts[] = {
#define X(name, text) text,
        SXS_POOL_REASONS(X)
#undef X
    };
    return texts[reason];
}

static void write_changes(const struct sxs_timeline *t, const struct sxs_line_pool *p, FILE *to)
{
    uint64_t last = 0;
    for (size_t i = 0; i < p->n; i++) {
        const struct sxs_model_pool *c = &p->changes[i];
        uint64_t                     since = c->time_ns < t->zero_ns ? 0 : c->time_ns - t->zero_ns;
        uint64_t                     us = (since > t->span_ns ? t->span_ns : since) / 1000;
        sxs_html_number(to, us - last);
        sxs_html_number(to, c->change);
        sxs_html_number(to, c->value);
        sxs_html_number(to, c->reason);
        last = us;
    }
}

void sxs_timeline_write_pools(const struct sxs_timeline *t, FILE *to)
{
    fputs(",\n\"poolReasons\":[", to);
    for (unsigned i = 0; i < SXS_N_POOL_REASONS; i++)
        fprintf(to, "%s\"%s\"", i ? "," : "", reason_text(i));
    fputs("],\n\"pools\":[", to);
    for (size_t i = 0; i < t->n_pools; i++) {
        const struct sxs_line_pool *p = &t->pools[i];
        fprintf(to, "%s[%u,%u,\"", i ? ",\n" : "", p->process, p->runtime);
        write_changes(t, p, to);
        fputs("\"]", to);
    }
    putc(']', to);
}
