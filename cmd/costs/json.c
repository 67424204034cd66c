/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>

#include "cmd/costs/costs.h"
#include "cmd/output/json_stream.h"
#include "cmd/output/json_values.h"
#include "cmd/output/must.h"
#include "cmd/output/processes.h"

/* A list of the JSON report. */
struct cost_list {
    const char        *key;
    enum sxs_cost_kind kind;
    bool               live;      /* of what is not gone */
    const char        *n, *value; /* keys of how many and how much */
};

static const struct cost_list lists[] = {
    {"allocations", SXS_COST_ALLOCATION, false, "objects", "bytes"},
    {"live", SXS_COST_ALLOCATION, true, "objects", "bytes"},
    {"native", SXS_COST_NATIVE, false, "blocks", "bytes"},
    {"native_live", SXS_COST_NATIVE, true, "blocks", "bytes"},
    {"locks", SXS_COST_LOCK, false, "waits", "wait_ns"},
};

#define N_LISTS (sizeof(lists) / sizeof(lists[0]))

/* Sets NAME_low and NAME_high: the bounds of an interval, null when they are not known. */
static int set_interval(json_t *o, const char *name, struct sxs_cost_interval i, bool known,
                        bool at_least)
{
    char key[64];
    int  err = 0;
    snprintf(key, sizeof(key), "%s_low", name);
    err |= known ? sxs_json_set_number(o, key, sxs_cost_floor(i.low))
                 : json_object_set_new(o, key, json_null());
    snprintf(key, sizeof(key), "%s_high", name);
    err |= known && !at_least ? sxs_json_set_number(o, key, sxs_cost_ceil(i.high))
                              : json_object_set_new(o, key, json_null());
    return err;
}

static int set_errors(json_t *o, const struct sxs_costs_process *p, const struct cost_list *list,
                      const struct sxs_cost_type *v, bool exact)
{
    const struct sxs_cost_sum *sum = list->live ? &v->live : &v->all;
    bool at_least = exact ? v->at_least : sxs_costs_dropped(&p->head, list->kind) > 0;
    bool   biased = !exact && sxs_costs_biased(&p->head, list->kind, v->runtime);
    double error = sxs_cost_error(sum->var_value, sum->value) * sum->value;
    const struct sxs_cost_interval n = {(double)v->n, (double)v->n};
    const struct sxs_cost_interval value = {(double)v->value, (double)v->value};
    int                            err = 0;
    err |= json_object_set_new(o, "biased", json_boolean(biased));
    err |= json_object_set_new(o, "at_least", json_boolean(at_least));
    err |= biased || at_least
               ? json_object_set_new(o, "error_bytes", json_null())
               : sxs_json_set_number(o, "error_bytes", exact ? 0 : sxs_cost_round(error));
    err |= set_interval(o, list->n, exact ? n : sxs_cost_interval_n(sum), !biased, at_least);
    err |= set_interval(o, list->value, exact ? value : sxs_cost_interval_value(sum), !biased,
                        at_least);
    return err;
}

static json_t *row_json(const struct sxs_costs_process *p, const struct cost_list *list,
                        const struct sxs_cost_type *v)
{
    const struct sxs_cost_sum *sum = list->live ? &v->live : &v->all;
    bool                       exact = v->exact && !list->live;
    bool                       all = p->head.cost_interval[list->kind] == 1 && sum->var_n <= 0 &&
               !sxs_costs_dropped(&p->head, list->kind);
    json_t *o = json_object();
    int     err = 0;
    err |= sxs_json_set_number(o, "pid", p->process->pid);
    err |= sxs_json_set_number(o, "runtime", v->runtime);
    err |= sxs_json_set_text(o, "version",
                             v->runtime ? sxs_process_version(p->process, v->runtime) : "");
    err |= sxs_json_set_text(o, "type", sxs_strings_text(&p->names, v->name));
    err |= sxs_json_set_number(o, list->n, exact ? v->n : sxs_cost_round(sum->n));
    err |= sxs_json_set_number(o, list->value, exact ? v->value : sxs_cost_round(sum->value));
    err |= json_object_set_new(o, "exact", json_boolean((exact && !v->at_least) || all));
    err |= sxs_json_set_number(o, "samples", sum->records);
    if (list->kind == SXS_COST_LOCK) {
        err |= sxs_json_set_number(o, "longest_ns", v->longest);
        err |= sxs_json_set_number(o, "open_waits", v->open);
        return sxs_json_whole(o, err);
    }
    err |= set_errors(o, p, list, v, exact);
    if (list->kind == SXS_COST_ALLOCATION && list->live) {
        err |= sxs_json_set_number(o, "unchecked_objects", sxs_cost_round(v->unchecked.n));
        err |= sxs_json_set_number(o, "unchecked_bytes", sxs_cost_round(v->unchecked.value));
    }
    if (list->kind == SXS_COST_ALLOCATION && !list->live) {
        err |= sxs_json_set_number(o, "large_objects", sxs_cost_round(sxs_cost_type_large(v)));
        err |= sxs_json_set_number(o, "pinned_objects", sxs_cost_round(v->pinned));
    }
    return sxs_json_whole(o, err);
}

static const struct cost_list *sorted_by; /* for qsort(), which passes no argument; one thread */

static int heavier(const void *a, const void *b)
{
    const struct sxs_cost_type *x = *(const struct sxs_cost_type *const *)a;
    const struct sxs_cost_type *y = *(const struct sxs_cost_type *const *)b;
    double                      vx = sorted_by->live ? x->live.value : sxs_cost_type_value(x);
    double                      vy = sorted_by->live ? y->live.value : sxs_cost_type_value(y);
    if (vx != vy)
        return vx < vy ? 1 : -1;
    return (x > y) - (x < y);
}

static bool is_listed(const struct sxs_costs_process *p, const struct cost_list *list,
                      const struct sxs_cost_type *v, uint32_t runtime)
{
    if (v->kind != list->kind || (runtime && v->runtime != runtime))
        return false;
    if (list->live)
        return v->live.records > 0;
    return v->exact == p->exact[list->kind] && (v->exact ? v->n > 0 : v->all.records > 0);
}

static int put_rows(struct sxs_json_stream *to, const struct sxs_costs_process *p,
                    const struct cost_list *list, uint32_t runtime)
{
    const struct sxs_cost_type **all = sxs_must_zeroed(p->types.n, sizeof(*all));
    size_t                       n = 0;
    int                          err = 0;
    for (size_t i = 0; i < p->types.n; i++)
        if (is_listed(p, list, &p->types.all[i], runtime))
            all[n++] = &p->types.all[i];
    sorted_by = list;
    if (n)
        qsort(all, n, sizeof(*all), heavier);
    for (size_t i = 0; i < n && !err; i++)
        err = sxs_json_stream_row(to, row_json(p, list, all[i]));
    free(all);
    return err;
}

static bool has_list(const struct sxs_costs_process *p, const struct cost_list *list)
{
    return sxs_costs_on(&p->head, list->kind) && (!list->live || p->head.cost_live[list->kind]);
}

static int put_list(struct sxs_json_stream *to, const struct sxs_costs_report *r,
                    const struct cost_list *list, uint32_t runtime)
{
    size_t first = 0;
    while (first < r->n && !has_list(&r->processes[first], list))
        first++;
    if (first == r->n)
        return 0;
    int err = sxs_json_stream_array(to, list->key);
    for (size_t i = first; i < r->n && !err; i++)
        if (has_list(&r->processes[i], list))
            err = put_rows(to, &r->processes[i], list, runtime);
    return err ? err : sxs_json_stream_end(to);
}

int sxs_costs_json(struct sxs_json_stream *to, const struct sxs_costs_report *r, uint32_t runtime)
{
    int err = 0;
    for (size_t i = 0; i < N_LISTS && !err; i++)
        err = put_list(to, r, &lists[i], runtime);
    return err;
}
