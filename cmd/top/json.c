/* SPDX-License-Identifier: MIT */
/* json.c - one look as a line of JSON. */
#include "cmd/top/top.h"

#include "cmd/output/json_document.h"
#include "cmd/output/json_values.h"
#include "cmd/output/names_of_values.h"
#include "cmd/output/text.h"

#include <jansson.h>
#include <math.h>

static int set_real(json_t *o, const char *key, double v)
{
    return json_object_set_new(o, key, json_real(isfinite(v) ? v : 0));
}

/* Sets a time of @seconds in nanoseconds. */
static int set_time(json_t *o, const char *key, double seconds)
{
    double ns = seconds * 1e9;
    return sxs_json_set_number(o, key,
                               !(ns > 0)     ? 0
                               : ns < 0x1p62 ? (uint64_t)(ns + 0.5)
                                             : UINT64_C(1) << 62);
}

/* Sets KEY and KEY_window: of the whole recording, and of its last seconds. */
static int set_sum(json_t *o, const char *key, struct sxs_live_sum sum)
{
    char window[64];
    snprintf(window, sizeof(window), "%s_window", key);
    return set_real(o, key, sum.all) | set_real(o, window, sum.window);
}

/* Sets likewise a sum in seconds, in nanoseconds. */
static int set_time_sum(json_t *o, const char *key, struct sxs_live_sum sum)
{
    char window[64];
    snprintf(window, sizeof(window), "%s_window", key);
    return set_time(o, key, sum.all) | set_time(o, window, sum.window);
}

/* Sets a sum of a list, which is a time in seconds if KEY ends with "_ns". */
static int set_listed_sum(json_t *o, const char *key, struct sxs_live_sum sum)
{
    return sxs_text_ends(key, "_ns") ? set_time_sum(o, key, sum) : set_sum(o, key, sum);
}

static json_t *runtime_json(const struct sxs_live_runtime *r)
{
    json_t *o = json_object();
    int     err = 0;
    err |= sxs_json_set_number(o, "runtime", r->number);
    err |= sxs_json_set_text(o, "version", r->version);
    err |= sxs_json_set_text(o, "state", sxs_state_text(r->state));
    err |= json_object_set_new(o, "ended", json_boolean(r->ended));
    err |= set_time_sum(o, "cpu_ns", r->cpu_s);
    err |= set_time_sum(o, "pause_ns", r->pause_s);
    err |= set_sum(o, "gcs", r->gcs);
    err |= set_sum(o, "exceptions_thrown", r->exceptions);
    err |= set_sum(o, "methods", r->methods);
    err |= set_sum(o, "allocated_bytes", r->allocated);
    err |= sxs_json_set_number(o, "heap_bytes", r->heap_bytes);
    return sxs_json_whole(o, err);
}

/* A list of rows, and the keys of the values in each row. */
struct row_list {
    const char        *key;
    enum sxs_live_list list;
    unsigned           needs;                          /* bits of enum sxs_live_recorded */
    const char        *text, *detail, *first, *second; /* detail: NULL: none */
};

static const struct row_list lists[] = {
    {"functions", SXS_LIVE_FUNCTIONS, SXS_LIVE_HAS_SAMPLES, "name", "tier", "self_ns", "total_ns"},
    {"threads", SXS_LIVE_THREAD_LIST, SXS_LIVE_HAS_SAMPLES, "name", NULL, "total_ns", "waiting_ns"},
    {"allocations", SXS_LIVE_ALLOCATION_LIST, SXS_LIVE_HAS_ALLOCATIONS, "type", NULL, "bytes",
     "objects"},
    {"native", SXS_LIVE_NATIVE_LIST, SXS_LIVE_HAS_NATIVE, "type", NULL, "bytes", "blocks"},
    {"exceptions", SXS_LIVE_EXCEPTION_LIST, SXS_LIVE_HAS_EXCEPTIONS, "type", "thrown", "count",
     "total_ns"},
    {"locks", SXS_LIVE_LOCK_LIST, SXS_LIVE_HAS_LOCKS, "type", NULL, "wait_ns", "waits"},
    {"compilations", SXS_LIVE_COMPILATION_LIST, SXS_LIVE_HAS_COMPILATIONS, "tier", NULL, "total_ns",
     "methods"},
};

static json_t *row_json(const struct row_list *list, const struct sxs_live_row *r)
{
    json_t *o = json_object();
    int     err = sxs_json_set_text(o, list->text, r->text);
    if (list->detail)
        err |= sxs_json_set_text(o, list->detail, r->detail);
    err |= sxs_json_set_number(o, "runtime", r->runtime);
    err |= set_listed_sum(o, list->first, r->first) | set_listed_sum(o, list->second, r->second);
    if (list->list == SXS_LIVE_THREAD_LIST)
        err |= sxs_json_set_number(o, "tid", r->id) |
               json_object_set_new(o, "ended", json_boolean(r->ended));
    return sxs_json_whole(o, err);
}

static json_t *rows_json(struct sxs_live *live, const struct row_list *list,
                         const struct sxs_top_options *o)
{
    size_t                 n;
    struct sxs_live_wanted wanted = {.order = sxs_live_process(live)->running ? SXS_LIVE_BY_WINDOW
                                                                              : SXS_LIVE_BY_ALL,
                                     .runtime = o->runtime,
                                     .filter = o->filter,
                                     .n = o->lines};
    const struct sxs_live_row *rows = sxs_live_rows(live, list->list, &wanted, &n, NULL);
    json_t                    *all = json_array();
    int                        err = 0;
    for (size_t i = 0; i < n; i++)
        err |= json_array_append_new(all, row_json(list, &rows[i]));
    return sxs_json_whole(all, err);
}

static json_t *collections_json(struct sxs_live *live, const struct sxs_top_options *o)
{
    size_t                            n;
    const struct sxs_live_collection *c = sxs_live_collections(live, o->runtime, &n);
    json_t                           *all = json_array();
    int                               err = 0;
    for (size_t i = 0; i < n && i < o->lines; i++) {
        json_t *v = json_object();
        err |= sxs_json_set_number(v, "runtime", c[i].runtime) | set_time(v, "at_ns", c[i].at_s) |
               set_time(v, "pause_ns", c[i].pause_s) | set_time(v, "duration_ns", c[i].duration_s) |
               sxs_json_set_number(v, "generation", c[i].generation) |
               sxs_json_set_text(v, "reason", c[i].reason) |
               sxs_json_set_text(v, "type", c[i].type) |
               sxs_json_set_number(v, "heap_before_bytes", c[i].heap_before) |
               sxs_json_set_number(v, "heap_bytes", c[i].heap_after);
        err |= json_array_append_new(all, v);
    }
    return sxs_json_whole(all, err);
}

static int set_lists(json_t *top, struct sxs_live *live, const struct sxs_top_options *o)
{
    unsigned recorded = sxs_live_process(live)->recorded;
    int      err = 0;
    for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++)
        if (recorded & lists[i].needs)
            err |= json_object_set_new(top, lists[i].key, rows_json(live, &lists[i], o));
    if (recorded & SXS_LIVE_HAS_COLLECTIONS)
        err |= json_object_set_new(top, "collections", collections_json(live, o));
    return err;
}

int sxs_top_print_json(struct sxs_live *live, const struct sxs_top_options *o,
                       const struct sxs_top_system *system, FILE *to)
{
    const struct sxs_live_process *p = sxs_live_process(live);
    struct sxs_top_figures         f;
    size_t                         n;
    const struct sxs_live_runtime *r = sxs_live_runtimes(live, &n);
    json_t *top = sxs_json_document_new(SXS_JSON_TOP), *runtimes = json_array();
    int                            err = 0;
    sxs_top_figures_get(live, system, &f);
    err |= sxs_json_set_number(top, "pid", p->pid) | sxs_json_set_text(top, "command", p->command);
    err |= json_object_set_new(top, "running", json_boolean(p->running));
    err |= set_time(top, "duration_ns", p->seconds) | set_time(top, "window_ns", p->covered_s);
    err |= set_time(top, "counted_ns", p->counted_s) | set_real(top, "processors", f.cpu);
    err |= set_time_sum(top, "cpu_ns", p->cpu_s) | set_time_sum(top, "pause_ns", p->pause_s);
    err |= set_sum(top, "gcs", p->gcs) | set_sum(top, "exceptions_thrown", p->exceptions);
    err |= set_sum(top, "methods", p->methods) | set_sum(top, "allocated_bytes", p->allocated);
    err |= sxs_json_set_number(top, "heap_bytes", p->heap_bytes);
    err |= sxs_json_set_number(top, "lost", p->lost);
    err |= sxs_json_set_number(top, "threads_with_unsampled_time", p->n_unsampled);
    err |= set_time(top, "unsampled_ns", p->unsampled_s);
    if (system->there)
        err |= sxs_json_set_number(top, "rss_bytes", f.rss) |
               sxs_json_set_number(top, "os_threads", f.threads);
    for (size_t i = 0; i < n; i++)
        err |= json_array_append_new(runtimes, runtime_json(&r[i]));
    err |= json_object_set_new(top, "runtimes", runtimes);
    err |= set_lists(top, live, o);
    err |= sxs_json_dump(top, to, JSON_COMPACT | JSON_REAL_PRECISION(12));
    json_decref(top);
    fputc('\n', to);
    return !err && fflush(to) == 0 && !ferror(to) ? 0 : -1;
}
