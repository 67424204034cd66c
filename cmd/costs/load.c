/* SPDX-License-Identifier: MIT */
#include "cmd/costs/costs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/sum.h"
#include "cmd/output/must.h"
#include "cmd/output/processes.h"
#include "session/read/file_read.h"

bool sxs_costs_biased(const struct sxs_samples_header *head, enum sxs_cost_kind kind,
                      uint32_t runtime)
{
    uint64_t biased = atomic_load_explicit(&head->biased_runtimes, memory_order_relaxed);
    return kind == SXS_COST_ALLOCATION && runtime < 64 && (biased >> runtime & 1);
}

uint64_t sxs_costs_dropped(const struct sxs_samples_header *head, enum sxs_cost_kind kind)
{
    return atomic_load_explicit(&head->n_costs_dropped[kind], memory_order_relaxed);
}

bool sxs_costs_exact(const struct sxs_cost_facts *f, enum sxs_cost_kind kind,
                     struct sxs_cost_type *(*row)(void *arg, const struct sxs_cost_total *total),
                     void *arg)
{
    bool found = false;
    for (size_t i = 0; i < f->n_totals; i++) {
        const struct sxs_cost_total *t = &f->totals[i];
        struct sxs_cost_type        *v = t->kind == kind ? row(arg, t) : NULL;
        if (!v)
            continue;
        v->exact = found = true;
        v->at_least |= (t->flags & SXS_COST_AT_LEAST) != 0;
        sxs_sum_add(&v->n, t->n);
        sxs_sum_add(&v->value, t->value);
        sxs_sum_add(&v->exact_large, t->flags & SXS_COST_LARGE ? t->n : 0);
    }
    return found;
}

struct costs_loading {
    struct sxs_costs_process *p;
    struct sxs_cost_facts     facts;
};

static struct sxs_cost_type *row_of(struct costs_loading *l, uint32_t name, uint16_t runtime,
                                    enum sxs_cost_kind kind, uint8_t flags)
{
    size_t      size;
    const char *text = sxs_cost_type_name(&l->facts, name, kind, flags, &size);
    return sxs_cost_types_row(&l->p->types, sxs_strings_add(&l->p->names, text, size), runtime,
                              kind);
}

static struct sxs_cost_type *row_of_total(void *arg, const struct sxs_cost_total *t)
{
    return row_of(arg, t->name, t->runtime, t->kind, t->flags);
}

static void sum_up(struct sxs_costs_process *p, struct sxs_samples *reader)
{
    struct costs_loading      l = {.p = p};
    struct sxs_samples_record r;
    sxs_cost_facts_read(reader, &l.facts);
    sxs_strings_add(&p->names, "", 0);
    while (sxs_samples_next(reader, &r))
        if (r.type == SXS_RECORD_COST)
            sxs_cost_type_add(
                row_of(&l, r.cost->name, r.cost->runtime, r.cost->kind, r.cost->flags), r.cost,
                sxs_cost_fate(&l.facts, &p->head, r.cost));
    for (unsigned kind = 1; kind < SXS_N_COST_KINDS; kind++)
        p->exact[kind] = sxs_costs_exact(&l.facts, kind, row_of_total, &l);
    sxs_cost_facts_free(&l.facts);
}

static void add_problem(struct sxs_costs_report *r, const char *folder, const char *text)
{
    sxs_lines_add(&r->problems, &r->n_problems, "%s/" SXS_SAMPLES_FILE ": %s", folder, text);
}

static bool has_costs(const struct sxs_samples_header *head)
{
    for (unsigned kind = 1; kind < SXS_N_COST_KINDS; kind++)
        if (sxs_costs_on(head, kind))
            return true;
    return false;
}

static int load_process(void *to, const struct sxs_process_part *part)
{
    struct sxs_costs_report *r = to;
    struct sxs_samples      *reader;
    const char              *line;
    char                     why[256];
    int                      err = sxs_samples_open(part->files, &reader, why, sizeof(why));
    if (err && err != ENOENT) /* ENOENT is no problem: nothing was recorded into this file */
        add_problem(r, part->folder, why);
    if (err)
        return err == ENOMEM ? err : 0;
    if (has_costs(sxs_samples_head(reader))) {
        r->processes = sxs_must(reallocarray(r->processes, r->n + 1, sizeof(*r->processes)));
        struct sxs_costs_process *p = &r->processes[r->n++];
        *p = (struct sxs_costs_process){.process = part->process};
        memcpy(&p->head, sxs_samples_head(reader), sizeof(p->head));
        sum_up(p, reader);
        for (size_t i = 0; (line = sxs_samples_problem(reader, i)) != NULL; i++)
            add_problem(r, part->folder, line);
    }
    sxs_samples_close(reader);
    return 0;
}

struct sxs_opened_reader sxs_costs_report_reader(struct sxs_costs_report *out)
{
    memset(out, 0, sizeof(*out));
    return (struct sxs_opened_reader){
        .take = load_process, .arg = out, .files = sxs_session_file_bit(SXS_SAMPLES_FILE)};
}

int sxs_costs_report_load(const struct sxs_opened *v, const char *process,
                          struct sxs_costs_report *out)
{
    struct sxs_opened_reader reader = sxs_costs_report_reader(out);
    return sxs_opened_read(v, process, &reader, 1);
}

void sxs_costs_report_free(struct sxs_costs_report *r)
{
    for (size_t i = 0; i < r->n; i++) {
        sxs_cost_types_free(&r->processes[i].types);
        sxs_strings_free(&r->processes[i].names);
    }
    sxs_lines_free(r->problems, r->n_problems);
    free(r->processes);
    memset(r, 0, sizeof(*r));
}
