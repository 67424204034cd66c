/* SPDX-License-Identifier: MIT */
#include "record/instrument_read.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/chunks_read.h"
#include "record/file_read.h"

#define SITES_MOST (1u << 20)

static const struct sxs_chunk_file kind = {
    .name = SXS_INSTRUMENT_FILE,
    .magic = SXS_INSTRUMENT_MAGIC,
    .version = SXS_INSTRUMENT_VERSION,
    .head_size = sizeof(struct sxs_instrument_header),
    .n_chunks_at = offsetof(struct sxs_instrument_header, n_chunks),
    .max_chunks_at = offsetof(struct sxs_instrument_header, max_chunks),
};

struct reading {
    struct sxs_instrument_data *d;
    bool                        no_memory;
};

/* ---- records: each is false when its record is not whole -------------------------------------- */

static struct sxs_instrumented *site_at(struct reading *r, uint32_t number)
{
    struct sxs_instrument_data *d = r->d;
    if (number >= d->n_sites) {
        size_t                   n = (size_t)number + 64;
        struct sxs_instrumented *more = reallocarray(d->sites, n, sizeof(*more));
        if (!more) {
            r->no_memory = true;
            return NULL;
        }
        memset(more + d->n_sites, 0, (n - d->n_sites) * sizeof(*more));
        d->sites = more;
        d->n_sites = n;
    }
    return &d->sites[number];
}

static void keep(struct reading *r, char **to, const char *bytes, size_t size)
{
    char *copy = strndup(bytes, size);
    if (!copy)
        r->no_memory = true;
    free(*to);
    *to = copy;
}

static bool take_site(struct reading *r, const struct sxs_record *record)
{
    const struct sxs_instrument_site *v = (const void *)record;
    struct sxs_instrumented          *s;
    if (record->size < sizeof(*v) || v->number >= SITES_MOST ||
        record->size < offsetof(struct sxs_instrument_site, text) + v->assembly_size + v->name_size)
        return false;
    s = site_at(r, v->number);
    if (!s)
        return true;
    s->known = true;
    s->runtime = v->runtime;
    s->token = v->token;
    keep(r, &s->assembly, v->text, v->assembly_size);
    keep(r, &s->name, v->text + v->assembly_size, v->name_size);
    return true;
}

static bool take_state(struct reading *r, const struct sxs_record *record)
{
    const struct sxs_instrument_state *v = (const void *)record;
    struct sxs_instrumented           *s;
    if (record->size < sizeof(*v) || v->site >= SITES_MOST || v->state >= SXS_N_SITE_STATES ||
        record->size < offsetof(struct sxs_instrument_state, text) + v->size)
        return false;
    s = site_at(r, v->site);
    if (!s)
        return true;
    s->state = v->state;
    s->hr = v->hr;
    s->n_changes++;
    if (v->state == SXS_SITE_PENDING)
        keep(r, &s->rules, v->text, v->size);
    keep(r, &s->reason, v->text, v->state == SXS_SITE_FAILED ? v->size : 0);
    return true;
}

static bool take_counts(struct reading *r, const struct sxs_record *record)
{
    const struct sxs_instrument_counts *v = (const void *)record;
    if (record->size < sizeof(*v) || v->first >= SITES_MOST || v->first % SXS_INSTRUMENT_PAGE)
        return false;
    for (uint32_t i = 0; i < SXS_INSTRUMENT_PAGE; i++) {
        const struct sxs_instrument_count *c = &v->counts[i];
        struct sxs_instrumented           *s = site_at(r, v->first + i);
        if (!s)
            return true;
        s->calls += c->calls;
        s->ended += c->ended;
        s->threw += c->threw;
        s->total_ns += c->ticks; /* made ns when all is read */
    }
    return true;
}

static bool take_call(struct reading *r, const struct sxs_record *record)
{
    const struct sxs_instrument_call *v = (const void *)record;
    struct sxs_instrumented          *s;
    if (record->size < sizeof(*v) || v->site >= SITES_MOST)
        return false;
    s = site_at(r, v->site);
    if (s)
        s->traced++;
    return true;
}

static struct sxs_instrumented_rule *rule_at(struct reading *r, uint32_t number)
{
    struct sxs_instrument_data *d = r->d;
    if (number >= d->n_rules) {
        size_t                        n = (size_t)number + 64;
        struct sxs_instrumented_rule *more = reallocarray(d->rules, n, sizeof(*more));
        if (!more) {
            r->no_memory = true;
            return NULL;
        }
        memset(more + d->n_rules, 0, (n - d->n_rules) * sizeof(*more));
        d->rules = more;
        d->n_rules = n;
    }
    return &d->rules[number];
}

static bool take_rule(struct reading *r, const struct sxs_record *record)
{
    const struct sxs_instrument_rule *v = (const void *)record;
    struct sxs_instrumented_rule     *s;
    if (record->size < sizeof(*v) || v->number >= SITES_MOST ||
        record->size < offsetof(struct sxs_instrument_rule, text) + v->name_size + v->file_size +
                           v->text_size)
        return false;
    s = rule_at(r, v->number);
    if (!s)
        return true;
    s->known = true;
    s->line = v->line;
    s->without_il = v->without_il;
    s->matched = v->matched != 0;
    s->gone = v->gone != 0;
    keep(r, &s->name, v->text, v->name_size);
    keep(r, &s->file, v->text + v->name_size, v->file_size);
    keep(r, &s->text, v->text + v->name_size + v->file_size, v->text_size);
    return true;
}

static bool take(const struct sxs_record *record, uint16_t type, void *out)
{
    switch (type) {
    case SXS_INSTRUMENT_SITE: return take_site(out, record);
    case SXS_INSTRUMENT_STATE: return take_state(out, record);
    case SXS_INSTRUMENT_COUNTS: return take_counts(out, record);
    case SXS_INSTRUMENT_CALL: return take_call(out, record);
    case SXS_INSTRUMENT_RULE: return take_rule(out, record);
    default: return false;
    }
}

/* ---- all -------------------------------------------------------------------------------------- */

static void make_ns(struct sxs_instrument_data *d)
{
    const struct sxs_instrument_header *h = &d->head;
    double                              ticks = (double)(h->seen_tick - h->started_tick);
    double rate = ticks > 0 ? (double)(h->seen_ns - h->started_ns) / ticks : 0;
    for (size_t i = 0; i < d->n_sites; i++)
        d->sites[i].total_ns = (uint64_t)((double)d->sites[i].total_ns * rate);
}

/* Only those that were told of, and no NULLs. */
static void tidy(struct reading *r)
{
    struct sxs_instrument_data *d = r->d;
    size_t                      n = 0;
    for (size_t i = 0; i < d->n_sites; i++) {
        struct sxs_instrumented *s = &d->sites[i];
        if (!s->known) {
            free(s->rules);
            free(s->reason);
            continue;
        }
        if (!s->rules)
            keep(r, &s->rules, "", 0);
        if (!s->reason)
            keep(r, &s->reason, "", 0);
        d->sites[n++] = *s;
    }
    d->n_sites = n;
    n = 0;
    for (size_t i = 0; i < d->n_rules; i++)
        if (d->rules[i].known)
            d->rules[n++] = d->rules[i];
    d->n_rules = n;
}

static void note_problems(struct sxs_instrument_data *d, struct sxs_chunk_reader *reader)
{
    const char *line;
    for (size_t i = 0; (line = sxs_chunk_reader_problem(reader, i)) != NULL; i++)
        sxs_lines_add(&d->problems, &d->n_problems, "%s", line);
    if (d->head.lost)
        sxs_lines_add(&d->problems, &d->n_problems, "%llu records found no room",
                      (unsigned long long)d->head.lost);
}

int sxs_instrument_read(int folder_fd, struct sxs_instrument_data **out, char *why, size_t why_size)
{
    struct sxs_instrument_data *d = calloc(1, sizeof(*d));
    struct reading              r = {d, false};
    struct sxs_chunk_reader     reader;
    int                         err;
    *out = NULL;
    if (!d)
        return ENOMEM;
    err = sxs_chunk_reader_open(&reader, folder_fd, &kind, &d->head, why, why_size);
    if (err) {
        free(d);
        return err;
    }
    while (!r.no_memory && sxs_chunk_reader_next(&reader, SXS_INSTRUMENT_LAST, take, &r))
        ;
    note_problems(d, &reader);
    sxs_chunk_reader_close(&reader);
    make_ns(d);
    tidy(&r);
    if (r.no_memory) {
        sxs_instrument_free(d);
        snprintf(why, why_size, "no memory");
        return ENOMEM;
    }
    *out = d;
    return 0;
}

void sxs_instrument_free(struct sxs_instrument_data *d)
{
    if (!d)
        return;
    for (size_t i = 0; i < d->n_sites; i++) {
        free(d->sites[i].assembly);
        free(d->sites[i].name);
        free(d->sites[i].rules);
        free(d->sites[i].reason);
    }
    for (size_t i = 0; i < d->n_rules; i++) {
        free(d->rules[i].name);
        free(d->rules[i].file);
        free(d->rules[i].text);
    }
    free(d->rules);
    free(d->sites);
    sxs_lines_free(d->problems, d->n_problems);
    free(d);
}

const char *sxs_site_state_text(uint8_t state)
{
    static const char *const texts[] = {
#define X(name, text) text,
        SXS_SITE_STATES(X)
#undef X
    };
    return state < SXS_N_SITE_STATES ? texts[state] : "?";
}
