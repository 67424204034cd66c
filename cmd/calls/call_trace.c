/* SPDX-License-Identifier: MIT */
#include "cmd/calls/call_trace.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/calls/replay.h"
#include "cmd/calls/tree.h"
#include "cmd/output/print.h"
#include "cmd/output/processes.h"
#include "cmd/output/text.h"
#include "cmd/output/thread_list.h"

#define SHOWN 200 /* calls, unless --single says otherwise */

struct trace_collector {
    const struct sxs_calls_process *p;
    struct sxs_calls_trace_entry   *all;
    size_t                          n, cap, of_thread, limit, total;
    uint32_t                        thread;
    size_t                         *open; /* calls under way: index in all, or SIZE_MAX */
    size_t                          depth, cap_open;
    bool                            no_memory;
};

static void *make_room(struct trace_collector *c, void *list, size_t n, size_t *cap, size_t item)
{
    size_t more = *cap ? *cap * 2 : 256;
    void  *at = list;
    if (n < *cap)
        return list;
    at = reallocarray(list, more, item);
    if (!at) {
        c->no_memory = true;
        return list;
    }
    *cap = more;
    return at;
}

static void begin_call(struct trace_collector *c, uint32_t path, uint64_t ns,
                       const struct sxs_calls_details *details)
{
    size_t index = SIZE_MAX;
    c->total++;
    if (c->of_thread < c->limit) {
        c->all = make_room(c, c->all, c->n, &c->cap, sizeof(*c->all));
        if (!c->no_memory) {
            index = c->n++;
            c->of_thread++;
            c->all[index] =
                (struct sxs_calls_trace_entry){.ns = ns,
                                               .path = path,
                                               .thread = c->thread,
                                               .depth = (unsigned)c->depth,
                                               .order = index,
                                               .arguments = details ? details->values : NULL};
        }
    }
    c->open = make_room(c, c->open, c->depth, &c->cap_open, sizeof(*c->open));
    if (!c->no_memory)
        c->open[c->depth++] = index;
}

static void end_call(struct trace_collector *c, uint64_t ns,
                     const struct sxs_calls_details *details)
{
    struct sxs_calls_trace_entry *s;
    size_t                   index;
    if (!c->depth || c->no_memory)
        return;
    index = c->open[--c->depth];
    if (index == SIZE_MAX)
        return;
    s = &c->all[index];
    s->duration_ns = ns - s->ns;
    s->ended = details != NULL;
    s->unwound = details && details->unwound;
    s->result = details ? details->values : NULL;
}

static void take_step(void *arg, uint32_t path, uint64_t ns, bool begins,
                      const struct sxs_calls_details *details)
{
    struct trace_collector *c = arg;
    if (begins)
        begin_call(c, path, ns, details);
    else
        end_call(c, ns, details);
}

static int by_time(const void *a, const void *b)
{
    const struct sxs_calls_trace_entry *x = a, *y = b;
    if (x->ns != y->ns)
        return x->ns < y->ns ? -1 : 1;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

static bool has_values(const struct sxs_calls *calls)
{
    for (size_t i = 0; i < calls->n_threads; i++)
        if (calls->threads[i].n_texts)
            return true;
    return false;
}

size_t sxs_calls_trace_collect(const struct sxs_calls_process *p, const struct sxs_calls_view *v,
                               size_t limit, struct sxs_calls_trace_entry **out, size_t *total)
{
    struct trace_collector  c = {.p = p, .limit = limit};
    struct sxs_calls_replay r = {take_step, &c};
    *out = NULL;
    *total = 0;
    if (!has_values(p->calls))
        return 0;
    for (uint32_t i = 0; i < p->calls->n_threads; i++) {
        if (!sxs_calls_thread_wanted(&p->calls->threads[i], v->thread))
            continue;
        c.thread = i;
        c.of_thread = c.depth = 0;
        sxs_calls_replay(p->calls, i, &r, NULL);
    }
    free(c.open);
    if (c.no_memory) {
        free(c.all);
        return 0;
    }
    if (c.n)
        qsort(c.all, c.n, sizeof(*c.all), by_time);
    *out = c.all;
    *total = c.total;
    return c.n < limit ? c.n : limit;
}

static void write_trace_entry(FILE *to, const struct sxs_calls_process *p,
                              const struct sxs_calls_trace_entry *s)
{
    const struct sxs_calls    *c = p->calls;
    const struct sxs_calls_read_function *fn = &c->fns[c->paths[s->path].fn];
    char plain[4096], name[3 * 4096], values[3 * SXS_CALLS_TEXT_MAX + 1], took[32];
    sxs_text_clean(sxs_calls_plain_name(fn->name, plain, sizeof(plain)), name, sizeof(name));
    sxs_text_clean(s->arguments ? s->arguments : "", values, sizeof(values));
    sxs_print_to(to, "%12.6f %7u %-8s %*s%s(%s)", (double)s->ns / 1e9, c->threads[s->thread].tid,
                 sxs_process_version(p->process, fn->runtime),
                 (int)(2 * (s->depth < 40 ? s->depth : 40)), "", name, values);
    if (s->result) {
        sxs_text_clean(s->result, values, sizeof(values));
        sxs_print_to(to, " = %s", values);
    }
    if (s->unwound)
        fputs(" left by an exception", to);
    if (s->ended)
        sxs_print_to(to, " <%s>\n", sxs_text_duration(s->duration_ns, took, sizeof(took)));
    else
        fputs(" <no end recorded>\n", to);
}

void sxs_calls_trace_text(FILE *to, const struct sxs_calls_process *p,
                          const struct sxs_calls_view *v)
{
    struct sxs_calls_trace_entry *all;
    size_t                        limit = v->trace_entries ? v->trace_entries : SHOWN;
    size_t                        total, n = sxs_calls_trace_collect(p, v, limit, &all, &total);
    if (n)
        sxs_print_to(to, "\nsingle calls of process %s, the first %zu of %zu\n%12s %7s %-8s call\n",
                     p->process->folder, n, total, "s", "thread", "runtime");
    struct sxs_thread_list threads = {.n = 0};
    for (size_t i = 0; i < n; i++) {
        const struct sxs_calls_read_thread *t = &p->calls->threads[all[i].thread];
        write_trace_entry(to, p, &all[i]);
        sxs_thread_list_add(&threads, t->tid, t->name);
    }
    sxs_thread_list_print(to, &threads);
    free(all);
}
