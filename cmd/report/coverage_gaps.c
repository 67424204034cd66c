/* SPDX-License-Identifier: MIT */
#include "cmd/report/coverage_gaps.h"

#include "cmd/calls/coverage_gaps.h"
#include "cmd/output/processes.h"
#include "cmd/report/format.h"
#include "cmd/output/must.h"

#include <string.h>

typedef unsigned long long ull;

static char *clean(const char *text)
{
    char *copy = sxs_must(strdup(text));
    sxs_strings_clean(copy, strlen(copy));
    return copy;
}

/* Adds @n rows of one kind and runtime. Rows with neither name nor detail are represented by the
 * sum only. */
static void take_group(struct sxs_model *m, const struct sxs_calls_process *p,
                       const struct sxs_unseen *u, size_t n)
{
    struct sxs_model_unseen *g;
    SXS_GROW(m->unseen, m->n_unseen, m->cap_unseen);
    g = &m->unseen[m->n_unseen++];
    *g = (struct sxs_model_unseen){.pid = p->process->pid, .runtime = u->runtime,
                                   .why = sxs_unseen_why(u->kind),
                                   .counted = sxs_unseen_is_counted(u->kind),
                                   .sum = sxs_unseen_sum(u, n)};
    g->version = clean(u->runtime ? sxs_process_version(p->process, u->runtime) : "");
    g->rows = sxs_must_zeroed(n < SXS_UNSEEN_MOST_ROWS ? n : SXS_UNSEEN_MOST_ROWS,
                              sizeof(*g->rows));
    for (size_t i = 0; i < n; i++) {
        if (!*u[i].name && !*u[i].detail)
            continue;
        if (g->n == SXS_UNSEEN_MOST_ROWS)
            g->n_left++;
        else
            g->rows[g->n++] = (struct sxs_model_unseen_row){clean(u[i].name), clean(u[i].detail),
                                                            u[i].count};
    }
}

void sxs_model_take_unseen(struct sxs_model *m, const struct sxs_calls_process *p,
                           const struct sxs_report_options *o)
{
    struct sxs_unseen_list list;
    int                    err = sxs_unseen_collect(p, &list);
    for (size_t i = 0, n; !err && i < list.n; i += n) {
        const struct sxs_unseen *u = &list.all[i];
        n = sxs_unseen_group(&list, i);
        if (!o->runtime || !u->runtime || u->runtime == o->runtime)
            take_group(m, p, u, n);
    }
    sxs_unseen_free(&list);
}

void sxs_model_move_unseen(struct sxs_model *from, struct sxs_model *to)
{
    sxs_model_free_unseen(to);
    to->unseen = from->unseen;
    to->n_unseen = from->n_unseen;
    to->cap_unseen = from->cap_unseen;
    from->unseen = NULL;
    from->n_unseen = from->cap_unseen = 0;
}

void sxs_model_write_unseen(const struct sxs_model *m, FILE *to)
{
    if (!m->n_unseen)
        return;
    fputs(",\n\"unseen\":[", to);
    for (size_t i = 0; i < m->n_unseen; i++) {
        const struct sxs_model_unseen *g = &m->unseen[i];
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
