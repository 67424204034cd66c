/* SPDX-License-Identifier: MIT */
/* rows.c - lists of rows: chosen, sorted and cut. */
#include "cmd/live/internal.h"

#include "cmd/output/must.h"
#include "cmd/output/names_of_values.h"

#include <string.h>

/* A row that may be listed. */
struct candidate {
    double      key, all; /* all: the first value since the beginning, for rows with equal keys */
    const char *text;
    size_t      index;
};

/* The best of the candidates: a heap whose first is the worst of them. */
struct best {
    struct candidate *all;
    size_t            n, cap, of;
};

/* Returns true when @x is listed after @y. */
static bool is_after(const struct candidate *x, const struct candidate *y)
{
    if (x->key != y->key)
        return x->key < y->key;
    if (x->all != y->all && x->key >= 0)
        return x->all < y->all;
    int c = strcmp(x->text, y->text);
    return c ? c > 0 : x->index > y->index;
}

static void sift_down(struct best *b, size_t at)
{
    for (size_t child; (child = 2 * at + 1) < b->n; at = child) {
        if (child + 1 < b->n && is_after(&b->all[child + 1], &b->all[child]))
            child++;
        if (!is_after(&b->all[child], &b->all[at]))
            return;
        struct candidate c = b->all[at];
        b->all[at] = b->all[child];
        b->all[child] = c;
    }
}

static void offer(struct best *b, const struct candidate *c)
{
    b->of++;
    if (b->n == b->cap) {
        if (!b->cap || !is_after(&b->all[0], c))
            return;
        b->all[0] = *c;
        sift_down(b, 0);
        return;
    }
    size_t at = b->n++;
    for (; at && is_after(c, &b->all[(at - 1) / 2]); at = (at - 1) / 2)
        b->all[at] = b->all[(at - 1) / 2];
    b->all[at] = *c;
}

static int in_order(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    return is_after(x, y) ? 1 : is_after(y, x) ? -1 : 0;
}

static double key_of(const struct sxs_live_row *r, enum sxs_live_order order)
{
    switch (order) {
    case SXS_LIVE_BY_WINDOW: return r->first.window;
    case SXS_LIVE_BY_ALL: return r->first.all;
    case SXS_LIVE_BY_WINDOW2: return r->second.window;
    case SXS_LIVE_BY_ALL2: return r->second.all;
    default: return -1; /* by text alone */
    }
}

/* ---- the rows of each list ---- */

const char *sxs_live_frame_text(struct sxs_live *l, uint32_t frame)
{
    struct sxs_live_samples      *s = &l->samples;
    const struct sxs_model_frame *f = &l->model.frames[frame];
    if (frame >= s->n_texts) {
        size_t n = l->model.n_frames * 2 + 256;
        s->texts = sxs_must(reallocarray(s->texts, n, sizeof(*s->texts)));
        memset(s->texts + s->n_texts, 0, (n - s->n_texts) * sizeof(*s->texts));
        s->n_texts = n;
    }
    if (f->runtime || (f->flags & SXS_FRAME_OWN))
        return sxs_model_text(&l->model, f->name);
    /* Files of a runtime have its version before them: there may be several of the same name. */
    const char *version =
        f->home ? sxs_model_text(&l->model, l->model.runtimes[f->home - 1].version) : "";
    if (!s->texts[frame] && asprintf(&s->texts[frame], "%s%s%s!%s", version, version[0] ? "/" : "",
                                     sxs_base_name(sxs_model_text(&l->model, f->file)),
                                     sxs_model_text(&l->model, f->name)) < 0)
        sxs_must(NULL);
    return s->texts[frame];
}

static struct sxs_live_sum in_seconds(uint64_t all_ns, uint64_t window_ns)
{
    return (struct sxs_live_sum){(double)all_ns / 1e9, (double)window_ns / 1e9};
}

/* Returns the text of the tier in which most of a function's own samples were; "" for none. */
static const char *main_tier(const struct sxs_model_frame *f)
{
    unsigned best = 0;
    for (unsigned t = 1; t < 8; t++)
        if (f->tier_self[t] > f->tier_self[best])
            best = t;
    return f->runtime && best ? sxs_tier_text(best) : "";
}

static bool function_row(struct sxs_live *l, size_t i, struct sxs_live_row *out)
{
    const struct sxs_model_frame *f = &l->model.frames[i];
    struct sxs_live_recent        none = {0, 0};
    const struct sxs_live_recent *w = i < l->samples.n_frames ? &l->samples.frames[i] : &none;
    if (!f->total)
        return false;
    *out =
        (struct sxs_live_row){.first = in_seconds(f->self_ns, w->first),
                              .second = in_seconds(f->total_ns, w->second),
                              .text = sxs_live_frame_text(l, (uint32_t)i),
                              .detail = main_tier(f),
                              .runtime = f->runtime ? l->model.runtimes[f->runtime - 1].number : 0,
                              .id = (uint32_t)i};
    return true;
}

static bool thread_row(struct sxs_live *l, size_t i, struct sxs_live_row *out)
{
    const struct sxs_model_thread *t = &l->model.threads[i];
    struct sxs_live_recent         none = {0, 0};
    const struct sxs_live_recent  *w = i < l->samples.n_threads ? &l->samples.threads[i] : &none;
    const char                    *name = sxs_model_text(&l->model, t->name);
    unsigned                       runtime = 0;
    for (unsigned n = 1; n < 64 && !runtime; n++) /* the first runtime that it belongs to */
        runtime = t->runtimes >> n & 1 ? n : 0;
    *out = (struct sxs_live_row){.first = in_seconds(t->weight_ns, w->first),
                                 .second = in_seconds(t->waiting_ns, w->second),
                                 .text = name,
                                 .detail = "",
                                 .runtime = runtime,
                                 .id = t->tid,
                                 .ended = t->ended_ns != 0};
    return true;
}

static bool item_row(struct sxs_live *l, enum sxs_live_list list, size_t i,
                     struct sxs_live_row *out)
{
    struct sxs_live_table *t = &l->tables[list];
    struct sxs_live_item  *v = &t->all[i];
    if (t->exact && !v->exact)
        return false;
    *out = (struct sxs_live_row){.first = sxs_live_track_sum(&v->first, l->bucket),
                                 .second = sxs_live_track_sum(&v->second, l->bucket),
                                 .text = sxs_strings_text(&l->strings, v->key[0]),
                                 .detail = sxs_strings_text(&l->strings, v->key[2]),
                                 .runtime = v->key[1],
                                 .exact = v->exact};
    return out->first.all > 0 || out->second.all > 0;
}

static bool row_at(struct sxs_live *l, enum sxs_live_list list, size_t i, struct sxs_live_row *out)
{
    switch (list) {
    case SXS_LIVE_FUNCTIONS: return function_row(l, i, out);
    case SXS_LIVE_THREAD_LIST: return thread_row(l, i, out);
    default: return item_row(l, list, i, out);
    }
}

static size_t n_rows(const struct sxs_live *l, enum sxs_live_list list)
{
    switch (list) {
    case SXS_LIVE_FUNCTIONS: return l->model.n_frames;
    case SXS_LIVE_THREAD_LIST: return l->model.n_threads;
    default: return l->tables[list].n;
    }
}

static bool is_wanted(const struct sxs_live_row *r, const struct sxs_live_wanted *w)
{
    if (w->recent && r->first.window <= 0 && r->second.window <= 0)
        return false;
    if (w->runtime && r->runtime != w->runtime)
        return false;
    return !w->filter || !w->filter[0] || strcasestr(r->text, w->filter) ||
           strcasestr(r->detail, w->filter);
}

const struct sxs_live_row *sxs_live_rows(struct sxs_live *l, enum sxs_live_list list,
                                         const struct sxs_live_wanted *wanted, size_t *n,
                                         size_t *of)
{
    size_t      rows = n_rows(l, list), want = wanted->n ? wanted->n : 100;
    size_t      most = wanted->first < rows ? wanted->first + (want < rows ? want : rows) : rows;
    struct best best = {.cap = most < rows ? most : rows};
    struct sxs_live_row row;
    best.all = sxs_must_zeroed(best.cap, sizeof(*best.all));
    for (size_t i = 0; i < rows; i++)
        if (row_at(l, list, i, &row) && is_wanted(&row, wanted)) {
            const struct candidate c = {key_of(&row, wanted->order), row.first.all, row.text, i};
            offer(&best, &c);
        }
    if (best.n)
        qsort(best.all, best.n, sizeof(*best.all), in_order);
    size_t first = wanted->first < best.n ? wanted->first : best.n;
    *n = best.n - first;
    if (of)
        *of = best.of;
    if (*n > l->cap_rows) {
        l->cap_rows = *n;
        l->rows = sxs_must(reallocarray(l->rows, l->cap_rows, sizeof(*l->rows)));
    }
    for (size_t i = 0; i < *n; i++)
        row_at(l, list, best.all[first + i].index, &l->rows[i]);
    free(best.all);
    return l->rows;
}

/* ---- collections and compilations, newest first ---- */

static double seconds_at(const struct sxs_live *l, uint64_t time_ns)
{
    return ((double)time_ns - (double)l->began_ns) / 1e9;
}

static uint64_t heap_bytes(const struct sxs_events_collection *c, bool before)
{
    uint64_t sum = 0;
    if (!(c->known & (before ? SXS_GC_KNOWS_DETAIL : SXS_GC_KNOWS_HEAP)))
        return 0;
    for (unsigned i = 0; i < SXS_GC_GENERATIONS; i++)
        sum += before ? c->generations[i].before : c->generations[i].size;
    return sum;
}

const struct sxs_live_collection *sxs_live_collections(struct sxs_live *l, uint32_t runtime,
                                                       size_t *n)
{
    const struct sxs_live_events *e = &l->events;
    if (!l->shown_collections)
        l->shown_collections = sxs_must_zeroed(SXS_LIVE_NEWEST, sizeof(*l->shown_collections));
    *n = 0;
    for (uint64_t i = e->n_collections; i-- > 0 && i + SXS_LIVE_NEWEST >= e->n_collections;) {
        const struct sxs_events_collection *c = &e->collections[i % SXS_LIVE_NEWEST].now;
        if (runtime && c->runtime != runtime)
            continue;
        l->shown_collections[(*n)++] = (struct sxs_live_collection){
            .at_s = seconds_at(l, c->time_ns),
            .pause_s = (double)c->pause_ns / 1e9,
            .duration_s = c->end_ns > c->time_ns ? (double)(c->end_ns - c->time_ns) / 1e9 : 0,
            .runtime = c->runtime,
            .number = c->number,
            .tid = c->tid,
            .generation = c->generation,
            .reason = c->reason == SXS_GC_UNKNOWN ? "" : sxs_gc_reason_text(c->reason),
            .type = c->type == SXS_GC_UNKNOWN ? "" : sxs_gc_type_text(c->type),
            .heap_before = heap_bytes(c, true),
            .heap_after = heap_bytes(c, false)};
    }
    return l->shown_collections;
}

const struct sxs_live_compilation *sxs_live_compilations(struct sxs_live *l, uint32_t runtime,
                                                         size_t *n)
{
    const struct sxs_live_events *e = &l->events;
    if (!l->shown_compilations)
        l->shown_compilations = sxs_must_zeroed(SXS_LIVE_NEWEST, sizeof(*l->shown_compilations));
    *n = 0;
    for (uint64_t i = e->n_compilations; i-- > 0 && i + SXS_LIVE_NEWEST >= e->n_compilations;) {
        const struct sxs_live_kept_compilation *c = &e->compilations[i % SXS_LIVE_NEWEST];
        if (runtime && c->shown.runtime != runtime)
            continue;
        l->shown_compilations[*n] = c->shown;
        l->shown_compilations[(*n)++].at_s = seconds_at(l, c->time_ns);
    }
    return l->shown_compilations;
}
