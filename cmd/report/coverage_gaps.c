/* SPDX-License-Identifier: MIT */
#include "cmd/report/coverage_gaps.h"

#include "cmd/calls/coverage_gaps.h"
#include "cmd/output/processes.h"
#include "cmd/report/format.h"
#include "cmd/output/must.h"

#include <string.h>

typedef unsigned long long ull;

static char *clean_text(const char *text)
{
    char *copy = sxs_must(strdup(text));
    sxs_strings_clean(copy, strlen(copy));
    return copy;
}

/* Adds @n rows of one kind and runtime. Rows with neither name nor detail are represented by the
 * sum only. */
static void take_group(struct sxs_model *m, const struct sxs_calls_process *p,
                       const struct sxs_gap *u, size_t n)
{
    struct sxs_model_gaps *g;
    SXS_GROW(m->gaps, m->n_gaps, m->cap_gaps);
    g = &m->gaps[m->n_gaps++];
    *g = (struct sxs_model_gaps){.pid = p->process->pid,
                                 .runtime = u->runtime,
                                 .why = sxs_gap_why(u->kind),
                                 .counted = sxs_gap_is_counted(u->kind),
                                 .sum = sxs_gaps_sum(u, n)};
    g->version = clean_text(u->runtime ? sxs_process_version(p->process, u->runtime) : "");
    g->rows = sxs_must_zeroed(n < SXS_GAP_ROWS_MAX ? n : SXS_GAP_ROWS_MAX, sizeof(*g->rows));
    for (size_t i = 0; i < n; i++) {
        if (!*u[i].name && !*u[i].detail)
            continue;
        if (g->n == SXS_GAP_ROWS_MAX)
            g->n_left++;
        else
            g->rows[g->n++] = (struct sxs_model_gap_row){clean_text(u[i].name),
                                                         clean_text(u[i].detail), u[i].count};
    }
}

void sxs_model_take_gaps(struct sxs_model *m, const struct sxs_calls_process *p,
                         const struct sxs_report_options *o)
{
    struct sxs_gap_list list;
    int                 err = sxs_gaps_collect(p, &list);
    for (size_t i = 0, n; !err && i < list.n; i += n) {
        const struct sxs_gap *u = &list.all[i];
        n = sxs_gaps_group(&list, i);
        if (!o->runtime || !u->runtime || u->runtime == o->runtime)
            take_group(m, p, u, n);
    }
    sxs_gaps_free(&list);
}

void sxs_model_move_gaps(struct sxs_model *from, struct sxs_model *to)
{
    sxs_model_free_gaps(to);
    to->gaps = from->gaps;
    to->n_gaps = from->n_gaps;
    to->cap_gaps = from->cap_gaps;
    from->gaps = NULL;
    from->n_gaps = from->cap_gaps = 0;
}

void sxs_model_write_gaps(const struct sxs_model *m, FILE *to)
{
    if (!m->n_gaps)
        return;
    fputs(",\n\"unseen\":[", to);
    for (size_t i = 0; i < m->n_gaps; i++) {
        const struct sxs_model_gaps *g = &m->gaps[i];
        fprintf(to, "%s[%u,%u,", i ? ",\n" : "", g->pid, g->runtime);
        sxs_json_string(to, g->version);
        putc(',', to);
        sxs_json_string(to, g->why);
        fprintf(to, ",%llu,%s,%zu,[", (ull)g->sum, g->counted ? "true" : "false", g->n_left);
        for (size_t k = 0; k < g->n; k++) {
            fputs(k ? ",\n[" : "[", to);
            sxs_json_string(to, g->rows[k].name);
            putc(',', to);
            sxs_json_string(to, g->rows[k].detail);
            fprintf(to, ",%llu]", (ull)g->rows[k].count);
        }
        fputs("]]", to);
    }
    putc(']', to);
}
