/* SPDX-License-Identifier: MIT */
#include "cmd/report/text_waits.h"

#include "cmd/output/must.h"
#include "cmd/output/print.h"
#include "cmd/report/cost_stacks.h"
#include "cmd/report/wait_class.h"
#include "runtime_facts/facts.h"
#include "runtime_facts/version.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* The waits for one reason in one function; call_site UINT32_MAX: in no code of the program. */
struct wait {
    uint32_t reason, call_site; /* frames */
    uint64_t n, ns;
};

static int by_place(const void *a, const void *b)
{
    const struct wait *x = a, *y = b;
    if (x->reason != y->reason)
        return x->reason < y->reason ? -1 : 1;
    return (x->call_site > y->call_site) - (x->call_site < y->call_site);
}

static const struct sxs_model *sorted; /* for qsort(), which passes no argument; one thread */

/* By the weight of the reason, then by that of the function. */
static int by_weight(const void *a, const void *b)
{
    const struct wait *x = a, *y = b;
    uint64_t           rx = sorted->frames[x->reason].self_ns;
    uint64_t           ry = sorted->frames[y->reason].self_ns;
    if (x->reason != y->reason)
        return rx != ry ? (rx < ry ? 1 : -1) : x->reason < y->reason ? -1 : 1;
    if (x->ns != y->ns)
        return x->ns < y->ns ? 1 : -1;
    return by_place(a, b);
}

/* Returns the youngest frame of the program's own code above a node. */
static uint32_t call_site_above(const struct sxs_model *m, uint32_t node)
{
    for (; m->nodes[node].parent != SXS_NO_NODE; node = m->nodes[node].parent)
        if (sxs_cost_frame_is_own(m, m->nodes[node].frame))
            return m->nodes[node].frame;
    return UINT32_MAX;
}

/* Returns an owned list of the waits, joined. @n: receives its length. */
static struct wait *find_waits(const struct sxs_model *m, size_t *n)
{
    struct wait *all = sxs_must_zeroed(m->n_nodes, sizeof(*all));
    size_t       found = 0, kept = 0;
    for (size_t i = 0; i < m->n_nodes; i++) {
        const struct sxs_model_node *v = &m->nodes[i];
        if (v->parent == SXS_NO_NODE || !v->self ||
            !(m->frames[v->frame].flags & SXS_FRAME_TYPE))
            continue;
        all[found++] =
            (struct wait){v->frame, call_site_above(m, v->parent), v->self, v->self_ns};
    }
    if (found)
        qsort(all, found, sizeof(*all), by_place);
    for (size_t i = 0; i < found; i++) {
        if (kept && by_place(&all[kept - 1], &all[i]) == 0) {
            all[kept - 1].n += all[i].n;
            all[kept - 1].ns += all[i].ns;
        } else {
            all[kept++] = all[i];
        }
    }
    sorted = m;
    if (kept)
        qsort(all, kept, sizeof(*all), by_weight);
    sorted = NULL;
    *n = kept;
    return all;
}

static void write_row(const struct sxs_model *m, uint64_t ns, uint64_t n, const char *before,
                      const char *text, FILE *to)
{
    sxs_print_to(to, "  %6.2f %%  %9.3f s  %9llu  %s%s\n",
                 m->total_ns ? 100.0 * (double)ns / (double)m->total_ns : 0, (double)ns / 1e9,
                 (unsigned long long)n, before, text);
}

static const char *const reasons[] = {
#define X(name, text) text,
    SXS_WAIT_CLASSES(X)
#undef X
};

/* Says what is hidden in a reason: before .NET 10, only native code waits for a class constructor, as
 * for a monitor. */
static void write_hidden(const struct sxs_model *m, const struct wait *all, size_t n, FILE *to)
{
    bool is_old = false, is_monitor = false;
    for (size_t i = 0; i < n; i++)
        is_monitor |= strcmp(sxs_model_text(m, m->frames[all[i].reason].name),
                             reasons[SXS_WAIT_MONITOR]) == 0;
    for (size_t i = 0; i < m->n_runtimes; i++) {
        const char        *version = sxs_model_text(m, m->runtimes[i].version);
        struct sxs_release r;
        is_old |= sxs_release_parse(version, &r) && !sxs_facts_of(version)->names_constructor_waits;
    }
    if (is_old && is_monitor)
        fputs("  before .NET 10, a wait for a class constructor of another thread counts as "
              "monitor or "
              "lock\n",
              to);
}

void sxs_text_waits(const struct sxs_model *m, size_t top, FILE *to)
{
    static char  text[70000];
    size_t       n, shown = 0;
    struct wait *all = find_waits(m, &n);
    fputs("\nwhat threads waited for, and where\n", to);
    write_hidden(m, all, n, to);
    fputs("    share        time    samples  reason, function\n", to);
    for (size_t i = 0; i < n; i++) {
        const struct sxs_model_frame *f = &m->frames[all[i].reason];
        if (!i || all[i].reason != all[i - 1].reason) {
            write_row(m, f->self_ns, f->self, "", sxs_model_text(m, f->name), to);
            shown = 0;
        }
        if (all[i].call_site != UINT32_MAX && shown++ < top)
            write_row(m, all[i].ns, all[i].n, "    ",
                      sxs_frame_text(m, all[i].call_site, SXS_STYLE_FULL, text, sizeof(text)), to);
    }
    free(all);
}
