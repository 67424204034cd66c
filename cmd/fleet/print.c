/* SPDX-License-Identifier: MIT */
#include "cmd/fleet/print.h"

#include "cmd/clickhouse/encode.h"
#include "cmd/output/json_document.h"
#include "cmd/output/must.h"
#include "cmd/output/print.h"
#include "cmd/output/runtime_pairs.h"
#include "cmd/output/text.h"
#include "cmd/report/format.h"

#include <math.h>
#include <string.h>

/* ---- numbers --------------------------------------------------------------------------------- */

static bool is_time(enum sxs_clickhouse_kind kind)
{
    return !sxs_clickhouse_kind_is_bytes(kind);
}

/* Formats a weight: "12.345 s" or "1.25 MiB". */
static const char *weight_text(enum sxs_clickhouse_kind kind, double v, char *buf, size_t size)
{
    if (!is_time(kind))
        return sxs_text_bytes(v, buf, size);
    snprintf(buf, size, "%.3f s", v / 1e9);
    return buf;
}

static double share(uint64_t part, uint64_t all)
{
    return all ? 100.0 * (double)part / (double)all : 0;
}

/* The weight for each process and unit of time: CPU seconds in a second, or bytes in a second; of
 * states: bytes. */
static double per_process(enum sxs_clickhouse_kind kind, const struct sxs_fleet_group *g)
{
    if (sxs_clickhouse_kind_is_state(kind))
        return g->processes ? (double)g->value / (double)g->processes : 0;
    double of = g->covered_ns ? (double)g->value / (double)g->covered_ns : 0;
    return is_time(kind) ? of : of * 1e9;
}

static const char *rate_text(enum sxs_clickhouse_kind kind, double v, char *buf, size_t size)
{
    char weight[64];
    if (is_time(kind))
        snprintf(buf, size, "%.2f %%", 100 * v);
    else
        snprintf(buf, size, "%s%s", weight_text(kind, v, weight, sizeof(weight)),
                 sxs_clickhouse_kind_is_state(kind) ? "" : "/s");
    return buf;
}

/* Returns the unit of weights as keys of JSON have it. */
static const char *unit_key(enum sxs_clickhouse_kind kind)
{
    return is_time(kind) ? "ns" : "bytes";
}

/* Returns what per_process() returns as keys of JSON have it. */
static const char *rate_key(enum sxs_clickhouse_kind kind)
{
    return is_time(kind)                        ? "ns_per_ns"
           : sxs_clickhouse_kind_is_state(kind) ? "bytes"
                                                : "bytes_per_s";
}

/* Writes the keys "kind" and "unit". */
static void put_kind(FILE *to, enum sxs_clickhouse_kind kind)
{
    fputs(",\"kind\":", to);
    sxs_json_string(to, sxs_clickhouse_kind_name(kind));
    sxs_print_to(to, ",\"unit\":\"%s\"", unit_key(kind));
}

static void put_said(FILE *to, const char *key, const struct sxs_fleet_selection *s)
{
    char  *says = NULL;
    size_t size = 0;
    FILE  *f = sxs_must(open_memstream(&says, &size));
    sxs_fleet_says(f, s);
    fclose(f);
    sxs_print_to(to, ",\"%s\":", key);
    sxs_json_string(to, sxs_must(says));
    free(says);
}

/* ---- functions ------------------------------------------------------------------------------- */

/* Formats the version of a function's runtime; of two selections with different ones: both. */
static const char *version_text(const struct sxs_fleet_names    *names,
                                const struct sxs_fleet_function *f, char *buf, size_t size)
{
    const struct sxs_fleet_frame *a = sxs_fleet_frame(names, f->frame),
                                 *b = sxs_fleet_frame(names, f->other_frame);
    return sxs_runtime_pair_version(a ? a->runtime : NULL, b ? b->runtime : NULL, buf, size);
}

/* Formats a function as reports do. */
static const char *function_text(const struct sxs_fleet_names    *names,
                                 const struct sxs_fleet_function *f, char *buf, size_t size)
{
    struct sxs_model m = {0};
    char             version[1024];
    if (!f->frame) {
        snprintf(buf, size, "(no stack)");
        return buf;
    }
    sxs_strings_add(&m.strings, "", 0);
    uint32_t frame = sxs_fleet_model_frame(&m, names, f->frame);
    version_text(names, f, version, sizeof(version));
    if (m.n_runtimes)
        m.runtimes[0].version = sxs_strings_add(&m.strings, version, strlen(version));
    sxs_frame_text(&m, frame, SXS_STYLE_FULL, buf, size);
    sxs_model_free(&m);
    return buf;
}

static void put_function_json(FILE *to, const struct sxs_fleet_function *f,
                              const struct sxs_fleet_names *names, const char *unit, bool other)
{
    static char                   text[70000];
    char                          version[1024];
    const struct sxs_fleet_frame *known = sxs_fleet_frame(names, f->frame);
    fputs("{\"name\":", to);
    sxs_json_string(to, function_text(names, f, text, sizeof(text)));
    fputs(",\"file\":", to);
    sxs_json_string(to, known ? known->file : "");
    fputs(",\"version\":", to);
    sxs_json_string(to, version_text(names, f, version, sizeof(version)));
    if (other)
        sxs_print_to(
            to, ",\"self_%s_a\":%llu,\"total_%s_a\":%llu,\"self_%s_b\":%llu,\"total_%s_b\":%llu}",
            unit, (unsigned long long)f->self, unit, (unsigned long long)f->total, unit,
            (unsigned long long)f->other_self, unit, (unsigned long long)f->other_total);
    else
        sxs_print_to(to, ",\"self_%s\":%llu,\"total_%s\":%llu}", unit, (unsigned long long)f->self,
                     unit, (unsigned long long)f->total);
}

static void functions_json(FILE *to, const struct sxs_fleet_selection *s,
                           const struct sxs_fleet_selection *other,
                           const struct sxs_fleet_functions *of,
                           const struct sxs_fleet_names     *names)
{
    const char *unit = unit_key(s->kind);
    sxs_json_document_begin(to, other ? SXS_JSON_FLEET_DIFF : SXS_JSON_FLEET_TOP);
    put_said(to, other ? "selection_a" : "selection", s);
    if (other)
        put_said(to, "selection_b", other);
    put_kind(to, s->kind);
    if (other)
        sxs_print_to(
            to, ",\"samples_a\":%llu,\"total_%s_a\":%llu,\"samples_b\":%llu,\"total_%s_b\":%llu",
            (unsigned long long)of->count, unit, (unsigned long long)of->value,
            (unsigned long long)of->other_count, unit, (unsigned long long)of->other_value);
    else
        sxs_print_to(to, ",\"samples\":%llu,\"total_%s\":%llu", (unsigned long long)of->count, unit,
                     (unsigned long long)of->value);
    fputs(",\"functions\":[", to);
    for (size_t i = 0; i < of->n; i++) {
        fputs(i ? ",\n" : "\n", to);
        put_function_json(to, &of->all[i], names, unit, other != NULL);
    }
    fputs("]}\n", to);
}

static void put_title(FILE *to, const char *name, const struct sxs_fleet_selection *s,
                      uint64_t count, uint64_t value)
{
    char weight[64];
    sxs_print_to(to, "%s", name);
    sxs_fleet_says(to, s);
    sxs_print_to(to, ": %s in %s\n", weight_text(s->kind, (double)value, weight, sizeof(weight)),
                 SXS_COUNT(count, "sample"));
}

static void functions_text(FILE *to, const struct sxs_fleet_selection *s,
                           const struct sxs_fleet_selection *other,
                           const struct sxs_fleet_functions *of,
                           const struct sxs_fleet_names     *names)
{
    static char text[70000];
    put_title(to, other ? "A: " : "", s, of->count, of->value);
    if (other)
        put_title(to, "B: ", other, of->other_count, of->other_value);
    fputs(other ? "\n    self A    self B    change   total A   total B  function\n"
                : "\n      self     total  function\n",
          to);
    for (size_t i = 0; i < of->n; i++) {
        const struct sxs_fleet_function *f = &of->all[i];
        double self = share(f->self, of->value), total = share(f->total, of->value);
        double self_b = share(f->other_self, of->other_value);
        if (other)
            sxs_print_to(to, "  %6.2f %%  %6.2f %%  %+6.2f %%  %6.2f %%  %6.2f %%  ", self, self_b,
                         self_b - self, total, share(f->other_total, of->other_value));
        else
            sxs_print_to(to, "  %6.2f %%  %6.2f %%  ", self, total);
        sxs_print_to(to, "%s\n", function_text(names, f, text, sizeof(text)));
    }
}

void sxs_fleet_print_functions(FILE *to, bool json, const struct sxs_fleet_selection *s,
                               const struct sxs_fleet_selection *other,
                               const struct sxs_fleet_functions *of,
                               const struct sxs_fleet_names     *names)
{
    if (json)
        functions_json(to, s, other, of, names);
    else
        functions_text(to, s, other, of, names);
}

/* ---- groups ---------------------------------------------------------------------------------- */

static const char *time_text(uint32_t seconds, char *buf, size_t size)
{
    time_t    t = seconds;
    struct tm utc;
    gmtime_r(&t, &utc);
    strftime(buf, size, "%Y-%m-%dT%H:%M:%SZ", &utc);
    return buf;
}

static const char *name_text(const char *name, char *buf, size_t size)
{
    sxs_text_clean(*name ? name : "(none)", buf, size);
    return buf;
}

static void put_numbers_json(FILE *to, enum sxs_clickhouse_kind kind,
                             const struct sxs_fleet_group *g, const char *suffix)
{
    sxs_print_to(
        to,
        ",\"samples%s\":%llu,\"total_%s%s\":%llu,\"covered_ns%s\":%llu,\"per_process_%s%s\":%.9g",
        suffix, (unsigned long long)g->count, unit_key(kind), suffix, (unsigned long long)g->value,
        suffix, (unsigned long long)g->covered_ns, rate_key(kind), suffix, per_process(kind, g));
    if (sxs_clickhouse_kind_is_state(kind))
        sxs_print_to(to, ",\"process_count%s\":%llu", suffix, (unsigned long long)g->processes);
}

/* Writes the key "by": what a row stands for; null: for all. */
static void put_by(FILE *to, const char *by)
{
    fputs(",\"by\":", to);
    if (by)
        sxs_json_string(to, by);
    else
        fputs("null", to);
}

static void series_json(FILE *to, const struct sxs_fleet_selection *s, int64_t step, const char *by,
                        const struct sxs_fleet_groups *g)
{
    char when[64];
    sxs_json_document_begin(to, SXS_JSON_FLEET_SERIES);
    put_said(to, "selection", s);
    put_kind(to, s->kind);
    put_by(to, by);
    sxs_print_to(to, ",\"step_s\":%lld,\"rows\":[", (long long)step);
    for (size_t i = 0; i < g->n; i++) {
        const struct sxs_fleet_group *r = &g->all[i];
        fputs(i ? ",\n{" : "\n{", to);
        if (step)
            sxs_print_to(to, "\"time\":\"%s\",", time_text(r->time, when, sizeof(when)));
        fputs("\"group\":", to);
        sxs_json_string(to, by ? r->name : "");
        put_numbers_json(to, s->kind, r, "");
        putc('}', to);
    }
    fputs("]}\n", to);
}

static void series_text(FILE *to, const struct sxs_fleet_selection *s, int64_t step, const char *by,
                        const struct sxs_fleet_groups *g)
{
    char when[64], weight[64], rate[80], name[256];
    sxs_fleet_says(to, s);
    fputs("\n\n", to);
    if (step)
        sxs_print_to(to, "%-20s  ", "time");
    sxs_print_to(to, "%14s  %10s  %13s  %s\n", sxs_clickhouse_kind_name(s->kind), "samples",
                 "per process", by ? by : "");
    for (size_t i = 0; i < g->n; i++) {
        const struct sxs_fleet_group *r = &g->all[i];
        if (step)
            sxs_print_to(to, "%-20s  ", time_text(r->time, when, sizeof(when)));
        sxs_print_to(to, "%14s  %10llu  %13s  %s\n",
                     weight_text(s->kind, (double)r->value, weight, sizeof(weight)),
                     (unsigned long long)r->count,
                     sxs_clickhouse_kind_is_state(s->kind) && !r->processes
                         ? "-"
                         : rate_text(s->kind, per_process(s->kind, r), rate, sizeof(rate)),
                     by ? name_text(r->name, name, sizeof(name)) : "");
    }
}

void sxs_fleet_print_series(FILE *to, bool json, const struct sxs_fleet_selection *s, int64_t step,
                            const char *by, const struct sxs_fleet_groups *g)
{
    if (json)
        series_json(to, s, step, by, g);
    else
        series_text(to, s, step, by, g);
}

/* ---- changes --------------------------------------------------------------------------------- */

struct change {
    const char            *name;
    struct sxs_fleet_group a, b; /* borrowed; zeroed: not there */
    double                 by;   /* of the weight for each process */
};

static int by_size(const void *x, const void *y)
{
    const struct change *a = x, *b = y;
    double               d = fabs(b->by) - fabs(a->by);
    return d > 0 ? 1 : d < 0 ? -1 : strcmp(a->name, b->name);
}

/* Joins two lists that are sorted by name. Returns an owned list. */
static struct change *join(enum sxs_clickhouse_kind kind, const struct sxs_fleet_groups *a,
                           const struct sxs_fleet_groups *b, size_t *n)
{
    struct change *all = sxs_must_zeroed(a->n + b->n, sizeof(*all));
    size_t         i = 0, k = 0;
    for (*n = 0; i < a->n || k < b->n; (*n)++) {
        struct change *c = &all[*n];
        int order = i == a->n ? 1 : k == b->n ? -1 : strcmp(a->all[i].name, b->all[k].name);
        c->name = order <= 0 ? a->all[i].name : b->all[k].name;
        if (order <= 0)
            c->a = a->all[i++];
        if (order >= 0)
            c->b = b->all[k++];
        c->by = per_process(kind, &c->b) - per_process(kind, &c->a);
    }
    qsort(all, *n, sizeof(*all), by_size);
    return all;
}

static void changes_json(FILE *to, const struct sxs_fleet_selection *a,
                         const struct sxs_fleet_selection *b, const char *by,
                         const struct change *all, size_t n)
{
    sxs_json_document_begin(to, SXS_JSON_FLEET_CHANGES);
    put_said(to, "selection_a", a);
    put_said(to, "selection_b", b);
    put_kind(to, a->kind);
    put_by(to, by);
    fputs(",\"rows\":[", to);
    for (size_t i = 0; i < n; i++) {
        fputs(i ? ",\n{\"group\":" : "\n{\"group\":", to);
        sxs_json_string(to, all[i].name);
        put_numbers_json(to, a->kind, &all[i].a, "_a");
        put_numbers_json(to, a->kind, &all[i].b, "_b");
        putc('}', to);
    }
    fputs("]}\n", to);
}

static void put_change(FILE *to, enum sxs_clickhouse_kind kind, const struct change *c)
{
    char   before[80], after[80], name[256];
    double a = per_process(kind, &c->a), b = per_process(kind, &c->b);
    sxs_print_to(to, "%13s  %13s  ", rate_text(kind, a, before, sizeof(before)),
                 rate_text(kind, b, after, sizeof(after)));
    if (a > 0)
        sxs_print_to(to, "%+9.1f %%  ", 100 * (b - a) / a);
    else
        sxs_print_to(to, "%11s  ", "new");
    sxs_print_to(to, "%s\n", name_text(c->name, name, sizeof(name)));
}

void sxs_fleet_print_changes(FILE *to, bool json, const struct sxs_fleet_selection *a,
                             const struct sxs_fleet_selection *b, const char *by,
                             const struct sxs_fleet_groups *of_a,
                             const struct sxs_fleet_groups *of_b, size_t top)
{
    size_t         n;
    struct change *all = join(a->kind, of_a, of_b, &n);
    if (json) {
        changes_json(to, a, b, by, all, n);
    } else {
        fputs("A: ", to);
        sxs_fleet_says(to, a);
        fputs("\nB: ", to);
        sxs_fleet_says(to, b);
        sxs_print_to(to, "\n\n%13s  %13s  %11s  %s\n", "A per process", "B per process", "change",
                     by);
        for (size_t i = 0; i < n && i < top; i++)
            put_change(to, a->kind, &all[i]);
        if (n > top)
            sxs_print_to(to, "and %zu more\n", n - top);
    }
    free(all);
}
