/* SPDX-License-Identifier: MIT */
/* view.c - the views: which columns each has, and its rows as text. */
#include "cmd/top/top.h"

#include "cmd/output/must.h"
#include "cmd/output/names_of_values.h"
#include "cmd/output/text.h"

#include <stdarg.h>
#include <string.h>

/* What a column sorts a list by. */
enum { UNSORTED = -1 };

struct view {
    const char           *name, *title;
    unsigned              needs;            /* what the session must record; 0: nothing */
    const char           *tools;            /* what records it */
    enum sxs_live_list    list;             /* SXS_LIVE_N_LISTS: none */
    unsigned              n_columns, first; /* first: sorted by this column at first */
    struct sxs_top_column columns[SXS_TOP_COLUMNS];
    int                   orders[SXS_TOP_COLUMNS]; /* enum sxs_live_order, or UNSORTED */
};

#define WINDOW  SXS_LIVE_BY_WINDOW
#define WINDOW2 SXS_LIVE_BY_WINDOW2
#define ALL     SXS_LIVE_BY_ALL
#define ALL2    SXS_LIVE_BY_ALL2
#define TEXT    SXS_LIVE_BY_TEXT
#define NO      UNSORTED

static const struct view views[SXS_TOP_N_VIEWS] = {
    [SXS_TOP_FUNCTIONS] = {"functions",
                           "Functions",
                           SXS_LIVE_HAS_SAMPLES,
                           "sxsprof sample",
                           SXS_LIVE_FUNCTIONS,
                           7,
                           0,
                           {{"SELF%", 6, true, true, 0},
                            {"TOTAL%", 6, true, true, 1},
                            {"SELF-ALL%", 9, true, true, 5},
                            {"TOTAL-ALL%", 10, true, true, 6},
                            {"RUNTIME", 8, false, false, 2},
                            {"TIER", 9, false, false, 4},
                            {"FUNCTION", 0, false, true, 0}},
                           {WINDOW, WINDOW2, ALL, ALL2, NO, NO, TEXT}},
    [SXS_TOP_THREADS] = {"threads",
                         "Threads",
                         SXS_LIVE_HAS_SAMPLES,
                         "sxsprof sample",
                         SXS_LIVE_THREAD_LIST,
                         6,
                         0,
                         {{"CPU%", 6, true, true, 0},
                          {"WAIT%", 6, true, true, 2},
                          {"TIME", 9, true, true, 3},
                          {"RUNTIME", 8, false, false, 2},
                          {"TID", 8, true, false, 1},
                          {"THREAD", 0, false, true, 0}},
                         {WINDOW, WINDOW2, ALL, NO, NO, TEXT}},
    [SXS_TOP_ALLOCATIONS] = {"allocations",
                             "Alloc",
                             SXS_LIVE_HAS_ALLOCATIONS,
                             "sxsprof alloc",
                             SXS_LIVE_ALLOCATION_LIST,
                             6,
                             0,
                             {{"BYTES/s", 9, true, true, 0},
                              {"OBJECTS/s", 9, true, true, 4},
                              {"BYTES", 9, true, true, 1},
                              {"OBJECTS", 9, true, true, 5},
                              {"RUNTIME", 8, false, false, 2},
                              {"TYPE", 0, false, true, 0}},
                             {WINDOW, WINDOW2, ALL, ALL2, NO, TEXT}},
    [SXS_TOP_NATIVE] = {"native",
                        "Native",
                        SXS_LIVE_HAS_NATIVE,
                        "sxsprof native",
                        SXS_LIVE_NATIVE_LIST,
                        5,
                        0,
                        {{"BYTES/s", 9, true, true, 0},
                         {"BLOCKS/s", 9, true, true, 4},
                         {"BYTES", 9, true, true, 1},
                         {"BLOCKS", 9, true, true, 5},
                         {"BY", 0, false, true, 0}},
                        {WINDOW, WINDOW2, ALL, ALL2, TEXT}},
    [SXS_TOP_EXCEPTIONS] = {"exceptions",
                            "Exceptions",
                            SXS_LIVE_HAS_EXCEPTIONS,
                            "sxsprof exceptions",
                            SXS_LIVE_EXCEPTION_LIST,
                            6,
                            0,
                            {{"EXC/s", 7, true, true, 0},
                             {"COUNT", 8, true, true, 1},
                             {"MEAN", 9, true, false, 4},
                             {"RUNTIME", 8, false, false, 2},
                             {"TYPE", 34, false, true, 0},
                             {"THROWN BY", 0, false, false, 0}},
                            {WINDOW, ALL, NO, NO, TEXT, NO}},
    [SXS_TOP_LOCKS] = {"locks",
                       "Locks",
                       SXS_LIVE_HAS_LOCKS,
                       "sxsprof locks",
                       SXS_LIVE_LOCK_LIST,
                       6,
                       0,
                       {{"WAIT%", 7, true, true, 2},
                        {"WAITS/s", 8, true, true, 4},
                        {"TIME", 9, true, true, 3},
                        {"WAITS", 8, true, true, 5},
                        {"RUNTIME", 8, false, false, 2},
                        {"LOCKED OBJECT", 0, false, true, 0}},
                       {WINDOW, WINDOW2, ALL, ALL2, NO, TEXT}},
    [SXS_TOP_COLLECTIONS] = {"collections",
                             "GCs",
                             SXS_LIVE_HAS_COLLECTIONS,
                             "sxsprof gc",
                             SXS_LIVE_N_LISTS,
                             9,
                             0,
                             {{"AT", 9, true, false, 1},
                              {"GEN", 3, true, false, 0},
                              {"PAUSE", 9, true, false, 0},
                              {"DURATION", 9, true, false, 6},
                              {"BEFORE", 8, true, false, 4},
                              {"AFTER", 8, true, false, 3},
                              {"RUNTIME", 8, false, false, 2},
                              {"KIND", 10, false, false, 5},
                              {"REASON", 0, false, false, 0}},
                             {NO, NO, NO, NO, NO, NO, NO, NO, NO}},
    [SXS_TOP_JIT] = {"jit",
                     "JIT",
                     SXS_LIVE_HAS_COMPILATIONS,
                     "sxsprof events",
                     SXS_LIVE_N_LISTS,
                     6,
                     0,
                     {{"AT", 9, true, false, 1},
                      {"TIME", 9, true, false, 3},
                      {"CODE", 8, true, false, 5},
                      {"RUNTIME", 8, false, false, 2},
                      {"TIER", 9, false, false, 4},
                      {"METHOD", 0, false, false, 0}},
                     {NO, NO, NO, NO, NO, NO}},
    [SXS_TOP_RUNTIMES] = {"runtimes",
                          "Runtimes",
                          0,
                          "",
                          SXS_LIVE_N_LISTS,
                          10,
                          0,
                          {{"RUNTIME", 8, false, false, 0},
                           {"CPU%", 6, true, false, 0},
                           {"GC/s", 6, true, false, 2},
                           {"PAUSE%", 6, true, false, 1},
                           {"HEAP", 8, true, false, 3},
                           {"ALLOC/s", 9, true, false, 4},
                           {"EXC/s", 7, true, false, 5},
                           {"JIT/s", 6, true, false, 6},
                           {"THREADS", 7, true, false, 7},
                           {"STATE", 0, false, false, 0}},
                          {NO, NO, NO, NO, NO, NO, NO, NO, NO, NO}},
};

const char *sxs_top_view_name(enum sxs_top_view view)
{
    return views[view].name;
}

const char *sxs_top_view_title(enum sxs_top_view view)
{
    return views[view].title;
}

enum sxs_top_view sxs_top_view_named(const char *name)
{
    unsigned i = 0;
    while (i < SXS_TOP_N_VIEWS && strcmp(views[i].name, name) != 0)
        i++;
    return i;
}

const char *sxs_top_view_names(void)
{
    static char text[160];
    size_t      len = 0;
    for (unsigned i = 0; i < SXS_TOP_N_VIEWS && len < sizeof(text); i++)
        len =
            (size_t)snprintf(text + len, sizeof(text) - len, "%s%s", i ? "|" : "", views[i].name) +
            len;
    return text;
}

unsigned sxs_top_sorted_first(enum sxs_top_view view, bool running)
{
    const struct view *v = &views[view];
    for (unsigned i = 0; i < v->n_columns && !running; i++)
        if (v->orders[i] == ALL)
            return i;
    return v->first;
}

unsigned sxs_top_sort_by(enum sxs_top_view view, unsigned from, int direction)
{
    const struct view *v = &views[view];
    for (unsigned i = from + (unsigned)direction; i < v->n_columns; i += (unsigned)direction)
        if (v->columns[i].sortable)
            return i;
    return from;
}

/* ---- rows ---- */

/* A row that is being filled in, column by column. */
struct view_row {
    char   **cells;
    unsigned n;
};

__attribute__((format(printf, 2, 3))) static void cell(struct view_row *r, const char *fmt, ...)
{
    va_list ap;
    char   *text = NULL;
    va_start(ap, fmt);
    if (vasprintf(&text, fmt, ap) < 0)
        text = NULL;
    va_end(ap);
    r->cells[r->n++] = sxs_must(text);
}

static struct view_row begin_row(struct sxs_top_table *t)
{
    SXS_GROW(t->rows, t->n, t->cap);
    t->rows[t->n] = sxs_must_zeroed(SXS_TOP_COLUMNS, sizeof(*t->rows[0]));
    return (struct view_row){t->rows[t->n++], 0};
}

static void percent(struct view_row *r, double part, double all)
{
    double share = all > 0 ? 100 * part / all : 0;
    if (share <= 0)
        cell(r, "-");
    else
        cell(r, "%.1f", share);
}

static void number(struct view_row *r, double n)
{
    char buf[32];
    cell(r, "%s", n > 0 ? sxs_top_number(n, buf, sizeof(buf)) : "-");
}

static void bytes(struct view_row *r, double n)
{
    char buf[32];
    cell(r, "%s", n > 0 ? sxs_text_bytes(n, buf, sizeof(buf)) : "-");
}

static void duration(struct view_row *r, double s)
{
    char buf[32];
    cell(r, "%s", sxs_top_time(s, buf, sizeof(buf)));
}

/* The version of a runtime; with its number when others have the same one. */
static void runtime(struct view_row *r, struct sxs_live *live, uint32_t n)
{
    size_t                         n_runtimes, same = 0;
    const struct sxs_live_runtime *all = sxs_live_runtimes(live, &n_runtimes), *found = NULL;
    for (size_t i = 0; i < n_runtimes; i++)
        found = all[i].number == n ? &all[i] : found;
    for (size_t i = 0; i < n_runtimes && found; i++)
        same += strcmp(all[i].version, found->version) == 0;
    if (!n)
        cell(r, "native");
    else if (!found || !found->version[0])
        cell(r, "clr%u", n);
    else if (same > 1)
        cell(r, "%u:%s", n, found->version);
    else
        cell(r, "%s", found->version);
}

static void function_row(struct view_row *to, struct sxs_live *live, const struct sxs_live_row *r)
{
    const struct sxs_live_process *p = sxs_live_process(live);
    percent(to, r->first.window, p->cpu_s.window);
    percent(to, r->second.window, p->cpu_s.window);
    percent(to, r->first.all, p->cpu_s.all);
    percent(to, r->second.all, p->cpu_s.all);
    runtime(to, live, r->runtime);
    cell(to, "%s", r->detail);
    cell(to, "%s", r->text);
}

static void thread_row(struct view_row *to, struct sxs_live *live, const struct sxs_live_row *r)
{
    const struct sxs_live_process *p = sxs_live_process(live);
    percent(to, r->first.window - r->second.window, p->covered_s);
    percent(to, r->second.window, p->covered_s);
    duration(to, r->first.all);
    if (r->runtime)
        runtime(to, live, r->runtime);
    else
        cell(to, "-");
    cell(to, "%u", r->id);
    cell(to, "%s%s", r->text, r->ended ? " (ended)" : "");
}

static void cost_row(struct view_row *to, struct sxs_live *live, const struct sxs_live_row *r,
                     bool typed)
{
    double s = sxs_live_process(live)->covered_s;
    bytes(to, s > 0 ? r->first.window / s : 0);
    number(to, s > 0 ? r->second.window / s : 0);
    bytes(to, r->first.all);
    number(to, r->second.all);
    if (typed)
        runtime(to, live, r->runtime);
    cell(to, "%s", r->text);
}

static void exception_row(struct view_row *to, struct sxs_live *live, const struct sxs_live_row *r)
{
    double s = sxs_live_process(live)->counted_s;
    number(to, s > 0 ? r->first.window / s : 0);
    number(to, r->first.all);
    duration(to, r->first.all > 0 ? r->second.all / r->first.all : 0);
    runtime(to, live, r->runtime);
    cell(to, "%s", r->text[0] ? r->text : "?");
    cell(to, "%s", r->detail);
}

static void lock_row(struct view_row *to, struct sxs_live *live, const struct sxs_live_row *r)
{
    double s = sxs_live_process(live)->covered_s;
    percent(to, r->first.window, s);
    number(to, s > 0 ? r->second.window / s : 0);
    duration(to, r->first.all);
    number(to, r->second.all);
    runtime(to, live, r->runtime);
    cell(to, "%s", r->text);
}

static void list_row(struct view_row *to, struct sxs_live *live, enum sxs_live_list list,
                     const struct sxs_live_row *r)
{
    switch (list) {
    case SXS_LIVE_FUNCTIONS: function_row(to, live, r); break;
    case SXS_LIVE_THREAD_LIST: thread_row(to, live, r); break;
    case SXS_LIVE_ALLOCATION_LIST: cost_row(to, live, r, true); break;
    case SXS_LIVE_NATIVE_LIST: cost_row(to, live, r, false); break;
    case SXS_LIVE_EXCEPTION_LIST: exception_row(to, live, r); break;
    default: lock_row(to, live, r); break;
    }
}

static void fill_list(struct sxs_top_table *t, struct sxs_live *live,
                      const struct sxs_top_state *state, size_t n)
{
    const struct view         *v = &views[state->view];
    int                        order = v->orders[t->sorted];
    size_t                     found;
    struct sxs_live_wanted     wanted = {.order = order == UNSORTED ? WINDOW : (unsigned)order,
                                         .runtime = state->runtime,
                                         .filter = state->filter,
                                         .first = state->first,
                                         .n = n};
    const struct sxs_live_row *rows = sxs_live_rows(live, v->list, &wanted, &found, &t->of);
    for (size_t i = 0; i < found; i++) {
        struct view_row row = begin_row(t);
        list_row(&row, live, v->list, &rows[i]);
    }
}

static bool passes(const struct sxs_top_state *state, const char *a, const char *b)
{
    return !state->filter || !state->filter[0] || strcasestr(a, state->filter) ||
           strcasestr(b, state->filter);
}

static void fill_collections(struct sxs_top_table *t, struct sxs_live *live,
                             const struct sxs_top_state *state, size_t n)
{
    size_t                            all;
    const struct sxs_live_collection *c = sxs_live_collections(live, state->runtime, &all);
    for (size_t i = 0; i < all; i++) {
        if (!passes(state, c[i].reason, c[i].type) || t->of++ < state->first || t->n == n)
            continue;
        struct view_row r = begin_row(t);
        cell(&r, "%.2f s", c[i].at_s);
        if (c[i].generation == SXS_GC_UNKNOWN)
            cell(&r, "?");
        else
            cell(&r, "%u", c[i].generation);
        duration(&r, c[i].pause_s);
        duration(&r, c[i].duration_s);
        bytes(&r, (double)c[i].heap_before);
        bytes(&r, (double)c[i].heap_after);
        runtime(&r, live, c[i].runtime);
        cell(&r, "%s", c[i].type);
        cell(&r, "%s", c[i].reason);
    }
}

static void fill_compilations(struct sxs_top_table *t, struct sxs_live *live,
                              const struct sxs_top_state *state, size_t n)
{
    size_t                             all;
    const struct sxs_live_compilation *c = sxs_live_compilations(live, state->runtime, &all);
    for (size_t i = 0; i < all; i++) {
        if (!passes(state, c[i].method, "") || t->of++ < state->first || t->n == n)
            continue;
        struct view_row r = begin_row(t);
        cell(&r, "%.2f s", c[i].at_s);
        duration(&r, c[i].duration_s);
        bytes(&r, c[i].bytes);
        runtime(&r, live, c[i].runtime);
        cell(&r, "%s", c[i].failed ? "failed" : sxs_tier_text(c[i].tier));
        cell(&r, "%s", c[i].method);
    }
}

static void fill_runtimes(struct sxs_top_table *t, struct sxs_live *live,
                          const struct sxs_top_state *state, size_t n)
{
    const struct sxs_live_process *p = sxs_live_process(live);
    size_t                         all;
    const struct sxs_live_runtime *c = sxs_live_runtimes(live, &all);
    for (size_t i = 0; i < all; i++) {
        if ((state->runtime && c[i].number != state->runtime) ||
            !passes(state, c[i].version, sxs_state_text(c[i].state)) || t->of++ < state->first ||
            t->n == n)
            continue;
        double          s = p->covered_s, counted = p->counted_s;
        struct view_row r = begin_row(t);
        runtime(&r, live, c[i].number);
        percent(&r, c[i].cpu_s.window, s);
        number(&r, counted > 0 ? c[i].gcs.window / counted : 0);
        percent(&r, c[i].pause_s.window, s);
        bytes(&r, (double)c[i].heap_bytes);
        bytes(&r, s > 0 ? c[i].allocated.window / s : 0);
        number(&r, counted > 0 ? c[i].exceptions.window / counted : 0);
        number(&r, counted > 0 ? c[i].methods.window / counted : 0);
        number(&r, (double)c[i].threads);
        cell(&r, "%s%s", sxs_state_text(c[i].state), c[i].ended ? ", ended" : "");
    }
}

static void free_rows(struct sxs_top_table *t)
{
    for (size_t i = 0; i < t->n; i++) {
        for (unsigned k = 0; k < SXS_TOP_COLUMNS; k++)
            free(t->rows[i][k]);
        free(t->rows[i]);
    }
    t->n = t->of = 0;
}

void sxs_top_table_fill(struct sxs_top_table *t, struct sxs_live *live,
                        const struct sxs_top_state *state, size_t n)
{
    static char        missing[128];
    const struct view *v = &views[state->view];
    free_rows(t);
    memcpy(t->columns, v->columns, sizeof(t->columns));
    t->n_columns = v->n_columns;
    t->sorted = state->sorted < v->n_columns ? state->sorted : v->first;
    t->missing = NULL;
    if (v->needs && !(sxs_live_process(live)->recorded & v->needs)) {
        snprintf(missing, sizeof(missing), "not recorded; %s records it", v->tools);
        t->missing = missing;
        return;
    }
    if (v->list != SXS_LIVE_N_LISTS)
        fill_list(t, live, state, n);
    else if (state->view == SXS_TOP_COLLECTIONS)
        fill_collections(t, live, state, n);
    else if (state->view == SXS_TOP_JIT)
        fill_compilations(t, live, state, n);
    else
        fill_runtimes(t, live, state, n);
}

void sxs_top_table_free(struct sxs_top_table *t)
{
    free_rows(t);
    free(t->rows);
    memset(t, 0, sizeof(*t));
}
