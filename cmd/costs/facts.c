/* SPDX-License-Identifier: MIT */
#include "cmd/costs/facts.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/output/must.h"

static void take_name(struct sxs_cost_facts *f, const struct sxs_samples_record *r)
{
    SXS_GROW(f->names, f->n_names, f->cap_names);
    struct sxs_cost_name *n = &f->names[f->n_names++];
    *n = (struct sxs_cost_name){r->name->number, r->name->runtime,
                                sxs_must_zeroed(r->text_size[0] + 1, 1), r->text_size[0]};
    memcpy(n->text, r->text[0], n->size);
}

static void take_live(struct sxs_cost_facts *f, const struct sxs_record_live *v)
{
    SXS_GROW(f->live, f->n_live, f->cap_live);
    memcpy(&f->live[f->n_live++], v, sizeof(*v));
}

static void take_total(struct sxs_cost_facts *f, const struct sxs_record_total *v)
{
    SXS_GROW(f->totals, f->n_totals, f->cap_totals);
    f->totals[f->n_totals++] =
        (struct sxs_cost_total){v->name,
                                v->runtime,
                                v->kind,
                                v->flags,
                                atomic_load_explicit(&v->n, memory_order_relaxed),
                                atomic_load_explicit(&v->value, memory_order_relaxed)};
}

static int name_by_number(const void *a, const void *b)
{
    const struct sxs_cost_name *x = a, *y = b;
    return (x->number > y->number) - (x->number < y->number);
}

static int by_value(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static int live_by_id(const void *a, const void *b)
{
    const struct sxs_record_live *x = a, *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

static int live_by_id_and_time(const void *a, const void *b)
{
    const struct sxs_record_live *x = a, *y = b;
    int                           order = live_by_id(a, b);
    return order ? order : (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
}

static void sort_facts(struct sxs_cost_facts *f)
{
    size_t kept = 0;
    if (f->n_names)
        qsort(f->names, f->n_names, sizeof(*f->names), name_by_number);
    if (f->n_released)
        qsort(f->released, f->n_released, sizeof(*f->released), by_value);
    if (f->n_live)
        qsort(f->live, f->n_live, sizeof(*f->live), live_by_id_and_time);
    for (size_t i = 0; i < f->n_live; i++) {
        if (kept && f->live[kept - 1].id == f->live[i].id)
            kept--;
        f->live[kept++] = f->live[i];
    }
    f->n_live = kept;
}

void sxs_cost_facts_read(struct sxs_samples *reader, struct sxs_cost_facts *out)
{
    struct sxs_samples_record r;
    uint64_t                  time;
    memset(out, 0, sizeof(*out));
    while (sxs_samples_next(reader, &r)) {
        time = 0;
        switch (r.type) {
        case SXS_RECORD_NAME: take_name(out, &r); break;
        case SXS_RECORD_TOTAL: take_total(out, r.total); break;
        case SXS_RECORD_COST: time = r.cost->time_ns; break;
        case SXS_RECORD_RELEASED:
            SXS_GROW(out->released, out->n_released, out->cap_released);
            out->released[out->n_released++] = r.released->id;
            time = r.released->time_ns;
            break;
        case SXS_RECORD_LIVE:
            take_live(out, r.live);
            time = r.live->time_ns;
            break;
        default: break;
        }
        out->last_ns = time > out->last_ns ? time : out->last_ns;
    }
    sort_facts(out);
    sxs_samples_rewind(reader);
}

void sxs_cost_facts_free(struct sxs_cost_facts *f)
{
    for (size_t i = 0; i < f->n_names; i++)
        free(f->names[i].text);
    free(f->names);
    free(f->released);
    free(f->live);
    free(f->totals);
    memset(f, 0, sizeof(*f));
}

const struct sxs_cost_name *sxs_cost_name_of(const struct sxs_cost_facts *f, uint32_t number)
{
    const struct sxs_cost_name key = {.number = number};
    return number && f->n_names ? bsearch(&key, f->names, f->n_names, sizeof(key), name_by_number)
                                : NULL;
}

bool sxs_cost_is_gone(const struct sxs_cost_facts *f, uint64_t id)
{
    return !id || (f->n_released &&
                   bsearch(&id, f->released, f->n_released, sizeof(id), by_value) != NULL);
}

enum sxs_cost_fate sxs_cost_fate(const struct sxs_cost_facts     *f,
                                 const struct sxs_samples_header *head,
                                 const struct sxs_record_cost    *cost)
{
    uint64_t checked = 0;
    if (sxs_cost_is_gone(f, cost->id))
        return SXS_COST_GONE;
    if (cost->kind != SXS_COST_ALLOCATION)
        return SXS_COST_ALIVE;
    if (cost->runtime < sizeof(head->live_checked_ns) / sizeof(head->live_checked_ns[0]))
        checked = atomic_load_explicit(&head->live_checked_ns[cost->runtime], memory_order_relaxed);
    return cost->time_ns < checked ? SXS_COST_ALIVE : SXS_COST_UNCHECKED;
}

const struct sxs_record_live *sxs_cost_live_of(const struct sxs_cost_facts *f, uint64_t id)
{
    const struct sxs_record_live key = {.id = id};
    return id && f->n_live ? bsearch(&key, f->live, f->n_live, sizeof(key), live_by_id) : NULL;
}

const char *sxs_cost_type_name(const struct sxs_cost_facts *f, uint32_t name,
                               enum sxs_cost_kind kind, uint8_t flags, size_t *size)
{
    const struct sxs_cost_name *found = sxs_cost_name_of(f, name);
    const char                 *text = "?";
    if (found && found->size) {
        *size = found->size;
        return found->text;
    }
    if (kind == SXS_COST_NATIVE)
        text = flags & SXS_COST_MAPPED ? "mmap" : "malloc";
    *size = strlen(text);
    return text;
}
