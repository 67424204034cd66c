/* SPDX-License-Identifier: MIT */
/* Text that compares the collections of two sessions, by version of the runtime and generation. */
#include "cmd/gc/gc.h"
#include "cmd/gc/sums.h"
#include "cmd/output/must.h"
#include "cmd/output/print.h"
#include "cmd/output/processes.h"
#include "cmd/output/text.h"

#include <stdlib.h>
#include <string.h>

typedef unsigned long long ull;

/* The collections of one version of a runtime and one line of the table, in both sessions. */
struct row {
    const char *version;
    unsigned    line;
    struct figures {
        uint64_t n, pause_ns, longest_ns, freed, promoted;
    } of[2];
};

struct rows {
    struct row *all; /* owned */
    size_t      n, cap;
};

static struct row *row_of(struct rows *rows, const char *version, unsigned line)
{
    for (size_t i = 0; i < rows->n; i++)
        if (rows->all[i].line == line && strcmp(rows->all[i].version, version) == 0)
            return &rows->all[i];
    SXS_GROW(rows->all, rows->n, rows->cap);
    rows->all[rows->n] = (struct row){.version = version, .line = line};
    return &rows->all[rows->n++];
}

static void add_collection(struct figures *f, const struct sxs_events_collection *c)
{
    f->n++;
    f->pause_ns += c->pause_ns;
    if (f->longest_ns < c->pause_ns)
        f->longest_ns = c->pause_ns;
    for (unsigned g = 0; g < SXS_GC_GENERATIONS; g++) {
        f->freed += c->generations[g].freed;
        f->promoted += c->generations[g].promoted;
    }
}

static void add_session(struct rows *rows, const struct sxs_events_report *r, unsigned which)
{
    for (size_t i = 0; i < r->n; i++) {
        const struct sxs_events_process *p = &r->processes[i];
        for (size_t k = 0; k < p->data->n_collections; k++) {
            const struct sxs_events_collection *c = &p->data->collections[k];
            const char *version = sxs_process_version(p->process, c->runtime);
            add_collection(&row_of(rows, version, sxs_gc_line(c))->of[which], c);
        }
    }
}

static int by_version(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    int               c = strverscmp(x->version, y->version);
    return c ? c : (x->line > y->line) - (x->line < y->line);
}

static void write_row(FILE *to, const struct row *r)
{
    const struct figures *a = &r->of[0], *b = &r->of[1];
    char                  text[8][32];
    sxs_print_to(to, "  [%s] %s\n", r->version, sxs_gc_line_text(r->line));
    sxs_print_to(to, "    count    %12llu -> %12llu\n", (ull)a->n, (ull)b->n);
    sxs_print_to(to, "    paused   %12s -> %12s\n",
                 sxs_text_duration(a->pause_ns, text[0], sizeof(text[0])),
                 sxs_text_duration(b->pause_ns, text[1], sizeof(text[1])));
    sxs_print_to(to, "    longest  %12s -> %12s\n",
                 sxs_text_duration(a->longest_ns, text[2], sizeof(text[2])),
                 sxs_text_duration(b->longest_ns, text[3], sizeof(text[3])));
    sxs_print_to(to, "    freed    %12s -> %12s\n",
                 sxs_text_bytes((double)a->freed, text[4], sizeof(text[4])),
                 sxs_text_bytes((double)b->freed, text[5], sizeof(text[5])));
    sxs_print_to(to, "    promoted %12s -> %12s\n",
                 sxs_text_bytes((double)a->promoted, text[6], sizeof(text[6])),
                 sxs_text_bytes((double)b->promoted, text[7], sizeof(text[7])));
}

void sxs_gc_diff(FILE *to, const struct sxs_events_report *a, const struct sxs_events_report *b)
{
    struct rows rows = {0};
    size_t      n[2] = {0};
    add_session(&rows, a, 0);
    add_session(&rows, b, 1);
    if (rows.n)
        qsort(rows.all, rows.n, sizeof(*rows.all), by_version);
    for (size_t i = 0; i < rows.n; i++) {
        n[0] += rows.all[i].of[0].n;
        n[1] += rows.all[i].of[1].n;
    }
    sxs_print_to(to, "collections: %zu -> %zu\n", n[0], n[1]);
    for (size_t i = 0; i < rows.n; i++)
        write_row(to, &rows.all[i]);
    free(rows.all);
}
