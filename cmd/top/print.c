/* SPDX-License-Identifier: MIT */
/* print.c - one look as plain text. */
#include "cmd/output/print.h"
#include "cmd/top/top.h"

#include "cmd/output/text.h"

#include <string.h>
#include <time.h>

static void print_head(struct sxs_live *live, const struct sxs_top_system *system, FILE *to)
{
    const struct sxs_live_process *p = sxs_live_process(live);
    struct sxs_top_figures         f;
    char                           now[32], a[32], b[32], c[32], d[32], tools[128];
    time_t                         t = time(NULL);
    struct tm                      tm;
    size_t                         n;
    const struct sxs_live_runtime *r = sxs_live_runtimes(live, &n);
    sxs_top_figures_get(live, system, &f);
    strftime(now, sizeof(now), "%H:%M:%S", localtime_r(&t, &tm));
    sxs_print_to(to, "%s  process %u%s, %.1f s recorded (%s): %s\n", now, p->pid,
                 p->running ? "" : " (ended)", p->seconds,
                 sxs_top_tools(p->recorded, tools, sizeof(tools))[0] ? tools : "counts only",
                 p->command);
    sxs_print_to(to, "runtimes");
    for (size_t i = 0; i < n; i++)
        sxs_print_to(to, "%s %u: %s%s", i ? "," : "", r[i].number,
                     r[i].version[0] ? r[i].version : "?", r[i].ended ? " (ended)" : "");
    sxs_print_to(to, "\ncpu %.1f %%, gc pauses ", 100 * f.cpu);
    if (f.has_pause)
        sxs_print_to(to, "%.1f %%", 100 * f.pause);
    else
        sxs_print_to(to, "not recorded");
    sxs_print_to(to, ", gcs %s/s, heap %s, allocated %s%s, exceptions %s/s, methods %s/s",
                 sxs_top_number(f.gcs, a, sizeof(a)),
                 f.heap_bytes ? sxs_text_bytes((double)f.heap_bytes, b, sizeof(b)) : "not recorded",
                 f.has_allocated ? sxs_text_bytes(f.allocated, c, sizeof(c)) : "not recorded",
                 f.has_allocated ? "/s" : "", sxs_top_number(f.exceptions, d, sizeof(d)),
                 sxs_top_number(f.methods, tools, sizeof(tools)));
    if (system->there)
        sxs_print_to(to, ", threads %u, memory %s", f.threads,
                     sxs_text_bytes((double)f.rss, a, sizeof(a)));
    fputc('\n', to);
    if (p->n_unsampled)
        sxs_print_to(to, "%s, %.3f s of their %s not sampled\n",
                     SXS_COUNT(p->n_unsampled, "thread"), p->unsampled_s,
                     p->wall ? "life" : "CPU time");
    if (p->lost)
        sxs_print_to(to, "lost: %s, without room or damaged\n", SXS_COUNT(p->lost, "record"));
}

static void print_table(const struct sxs_top_table *t, const char *title, FILE *to)
{
    sxs_print_to(to, "\n%s", title);
    if (t->missing) {
        sxs_print_to(to, ": %s\n", t->missing);
        return;
    }
    if (t->of > t->n)
        sxs_print_to(to, ": %zu of %zu", t->n, t->of);
    fputc('\n', to);
    for (unsigned k = 0; k < t->n_columns; k++) {
        const struct sxs_top_column *c = &t->columns[k];
        int                          width = (int)c->width;
        sxs_print_to(to, " %*s", c->right ? width : -width, c->heading);
    }
    fputc('\n', to);
    for (size_t i = 0; i < t->n; i++) {
        for (unsigned k = 0; k < t->n_columns; k++) {
            const struct sxs_top_column *c = &t->columns[k];
            size_t                       columns = sxs_text_width(t->rows[i][k]),
                   pad = c->width > columns ? c->width - columns : 0;
            sxs_print_to(to, " %*s%s%*s", c->right ? (int)pad : 0, "", t->rows[i][k],
                         c->right || !c->width ? 0 : (int)pad, "");
        }
        fputc('\n', to);
    }
}

int sxs_top_print_text(struct sxs_live *live, const struct sxs_top_options *o,
                       const struct sxs_top_system *system, FILE *to)
{
    bool                 running = sxs_live_process(live)->running;
    struct sxs_top_table t = {0};
    print_head(live, system, to);
    for (unsigned view = 0; view < SXS_TOP_N_VIEWS; view++) {
        struct sxs_top_state state = {.view = view,
                                      .sorted = sxs_top_sorted_first(view, running),
                                      .runtime = o->runtime,
                                      .filter = o->filter};
        if (o->view && view != sxs_top_view_named(o->view))
            continue;
        sxs_top_table_fill(&t, live, &state, o->lines);
        if (o->view || t.n)
            print_table(&t, sxs_top_view_title(view), to);
    }
    sxs_top_table_free(&t);
    fputc('\n', to);
    return fflush(to) == 0 && !ferror(to) ? 0 : -1;
}
