/* SPDX-License-Identifier: MIT */
/* Text that compares the collections of two sessions, by version of the runtime and generation.
 * cmd/output/runtime_pairs.h says which versions are compared. */
#include "cmd/gc/gc.h"
#include "cmd/gc/sums.h"
#include "cmd/output/must.h"
#include "cmd/output/print.h"
#include "cmd/output/processes.h"
#include "cmd/output/runtime_pairs.h"
#include "cmd/output/text.h"

#include <stdlib.h>
#include <string.h>

typedef unsigned long long ull;

/* The collections of one pair of versions and one line of the table, in both sessions. */
struct pair_row {
    char       *version; /* of the pair; owned */
    unsigned    line;
    struct figures {
        uint64_t n, pause_ns, longest_ns, freed, promoted;
    } of[2];
};

struct rows {
    struct pair_row         *all; /* owned */
    size_t                   n, cap;
    struct sxs_runtime_pairs pairs; /* runtimes of a session with one version are one */
};

static const char *version_of(const struct sxs_events_process    *p,
                              const struct sxs_events_collection *c)
{
    return sxs_process_version(p->process, c->runtime);
}

static void add_versions(struct sxs_runtime_pairs *pairs, const struct sxs_events_report *r,
                         int side)
{
    for (size_t i = 0; i < r->n; i++) {
        const struct sxs_events_process *p = &r->processes[i];
        const char                      *last = NULL;
        for (size_t k = 0; k < p->data->n_collections; k++) {
            const char *version = version_of(p, &p->data->collections[k]);
            if (!last || strcmp(last, version) != 0)
                sxs_runtime_pairs_add(pairs, side, version, 0);
            last = version;
        }
    }
}

/* Returns the row of a version of one session and a line; added when new. */
static struct pair_row *row_of(struct rows *rows, int side, const char *version, unsigned line)
{
    const uint32_t own = sxs_runtime_pairs_find(&rows->pairs, side, version, 0);
    const uint32_t partner = rows->pairs.of[side][own].partner;
    const char    *other = partner ? rows->pairs.of[!side][partner - 1].version : NULL;
    char           text[1024];
    sxs_runtime_pair_version(side ? other : version, side ? version : other, text, sizeof(text));
    for (size_t i = 0; i < rows->n; i++)
        if (rows->all[i].line == line && strcmp(rows->all[i].version, text) == 0)
            return &rows->all[i];
    SXS_GROW(rows->all, rows->n, rows->cap);
    rows->all[rows->n] = (struct pair_row){.version = sxs_must(strdup(text)), .line = line};
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

static void add_session(struct rows *rows, const struct sxs_events_report *r, int side)
{
    for (size_t i = 0; i < r->n; i++) {
        const struct sxs_events_process *p = &r->processes[i];
        for (size_t k = 0; k < p->data->n_collections; k++) {
            const struct sxs_events_collection *c = &p->data->collections[k];
            add_collection(&row_of(rows, side, version_of(p, c), sxs_gc_line(c))->of[side], c);
        }
    }
}

static int by_version(const void *a, const void *b)
{
    const struct pair_row *x = a, *y = b;
    int                    c = strverscmp(x->version, y->version);
    return c ? c : (x->line > y->line) - (x->line < y->line);
}

static void write_row(FILE *to, const struct pair_row *r)
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
    add_versions(&rows.pairs, a, 0);
    add_versions(&rows.pairs, b, 1);
    sxs_runtime_pairs_match(&rows.pairs);
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
    for (size_t i = 0; i < rows.n; i++)
        free(rows.all[i].version);
    free(rows.all);
    sxs_runtime_pairs_free(&rows.pairs);
}
