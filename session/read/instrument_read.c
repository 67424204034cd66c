/* SPDX-License-Identifier: MIT */
#include "session/read/instrument_read.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session/read/chunks_read.h"
#include "session/read/file_read.h"
#include "session/read/numbers.h"
#include "base/sum.h"

#define METHODS_MAX (1u << 20) /* limit of the numbers of methods and rules */

static const struct sxs_chunk_file kind = {
    .name = SXS_INSTRUMENT_FILE,
    .magic = SXS_INSTRUMENT_MAGIC,
    .version = SXS_INSTRUMENT_VERSION,
    .head_size = sizeof(struct sxs_instrument_header),
    .n_chunks_at = offsetof(struct sxs_instrument_header, n_chunks),
    .max_chunks_at = offsetof(struct sxs_instrument_header, max_chunks),
};

struct instrument_reading {
    struct sxs_instrument_data *d;
    struct sxs_numbers          methods, rules; /* numbers of them, by index */
    size_t                      cap_methods, cap_rules;
    bool                        no_memory;
};

/* ---- records: each take function returns false when its record is damaged ------------------ */

/* Returns the index of a number, which is added if necessary. Sets r->no_memory when it has no room. */
static uint32_t index_of(struct instrument_reading *r, struct sxs_numbers *all, uint32_t number)
{
    uint32_t index = 0;
    if (sxs_numbers_add(all, number, &index) != 0)
        r->no_memory = true;
    return index;
}

/* Makes room for one more item. Returns the list, which may have moved; sets r->no_memory when it could not grow. */
static void *make_room(struct instrument_reading *r, void *list, size_t n, size_t *cap, size_t size)
{
    void *more = sxs_list_room(list, n, cap, size);
    if (!more) {
        r->no_memory = true;
        return list;
    }
    return more;
}

/* Return the method with this number, added if necessary; NULL when out of memory. */
static struct sxs_instrumented *method_at(struct instrument_reading *r, uint32_t number)
{
    struct sxs_instrument_data *d = r->d;
    uint32_t                    at = index_of(r, &r->methods, number);
    d->methods = make_room(r, d->methods, d->n_methods, &r->cap_methods, sizeof(*d->methods));
    if (r->no_memory)
        return NULL;
    if (at == d->n_methods)
        d->methods[d->n_methods++] = (struct sxs_instrumented){.number = number};
    return &d->methods[at];
}

static void keep_text(struct instrument_reading *r, char **to, const char *bytes, size_t size)
{
    char *copy = strndup(bytes, size);
    if (!copy)
        r->no_memory = true;
    free(*to);
    *to = copy;
}

static bool take_method(struct instrument_reading *r, const struct sxs_record *record)
{
    const struct sxs_instrument_method *v = (const void *)record;
    struct sxs_instrumented          *s;
    if (record->size < sizeof(*v) || v->number >= METHODS_MAX ||
        record->size <
            offsetof(struct sxs_instrument_method, text) + v->assembly_size + v->name_size)
        return false;
    s = method_at(r, v->number);
    if (!s)
        return true;
    s->has_record = true;
    s->number = v->number;
    s->runtime = v->runtime;
    s->token = v->token;
    keep_text(r, &s->assembly, v->text, v->assembly_size);
    keep_text(r, &s->name, v->text + v->assembly_size, v->name_size);
    return true;
}

static bool take_state(struct instrument_reading *r, const struct sxs_record *record)
{
    const struct sxs_instrument_state *v = (const void *)record;
    struct sxs_instrumented           *s;
    if (record->size < sizeof(*v) || v->method >= METHODS_MAX ||
        v->state >= SXS_N_INSTRUMENTED_STATES ||
        record->size < offsetof(struct sxs_instrument_state, text) + v->size)
        return false;
    s = method_at(r, v->method);
    if (!s)
        return true;
    s->compiled = v->state == SXS_INSTRUMENTED_ACTIVE &&
                  v->size == strlen(SXS_INSTRUMENT_COMPILED) &&
                  memcmp(v->text, SXS_INSTRUMENT_COMPILED, v->size) == 0;
    s->n_changes += !s->compiled;
    s->state = v->state;
    s->hr = v->hr;
    if (v->state == SXS_INSTRUMENTED_PENDING)
        keep_text(r, &s->rules, v->text, v->size);
    keep_text(r, &s->reason, v->text, v->state == SXS_INSTRUMENTED_FAILED ? v->size : 0);
    return true;
}

static bool take_counts(struct instrument_reading *r, const struct sxs_record *record)
{
    const struct sxs_instrument_counts *v = (const void *)record;
    bool                                is_old = record->type == SXS_INSTRUMENT_COUNTS_OLD;
    size_t size = is_old ? SXS_INSTRUMENT_COUNT_OLD : sizeof(v->counts[0]);
    if (record->size <
            offsetof(struct sxs_instrument_counts, counts) + SXS_INSTRUMENT_PAGE * size ||
        v->first >= METHODS_MAX || v->first % SXS_INSTRUMENT_PAGE)
        return false;
    for (uint32_t i = 0; i < SXS_INSTRUMENT_PAGE; i++) {
        const struct sxs_instrument_count *c = (const void *)((const char *)v->counts + i * size);
        struct sxs_instrumented           *s = method_at(r, v->first + i);
        if (!s)
            return true;
        sxs_sum_add(&s->calls, c->calls);
        sxs_sum_add(&s->ended, c->ended);
        sxs_sum_add(&s->threw, c->threw);
        sxs_sum_add(&s->sum_ns, c->ticks); /* both are converted to ns by make_ns() */
        sxs_sum_add(&s->total_ns, is_old ? c->ticks : c->total);
        sxs_sum_add(&s->swallowed, c->swallowed);
    }
    return true;
}

static bool take_label(struct instrument_reading *r, const struct sxs_record *record)
{
    const struct sxs_instrument_label *v = (const void *)record;
    struct sxs_instrumented           *s;
    if (record->size < sizeof(*v) || v->method >= METHODS_MAX ||
        v->size > record->size - offsetof(struct sxs_instrument_label, text))
        return false;
    s = method_at(r, v->method);
    if (s)
        keep_text(r, &s->label, v->text, v->size);
    return true;
}

static bool take_helper(struct instrument_reading *r, const struct sxs_record *record)
{
    const struct sxs_instrument_helper *v = (const void *)record;
    struct sxs_instrument_data         *d = r->d;
    struct sxs_instrument_called       *more;
    if (record->size < sizeof(*v) ||
        v->size > record->size - offsetof(struct sxs_instrument_helper, text))
        return false;
    more = reallocarray(d->helpers, d->n_helpers + 1, sizeof(*more));
    if (!more) {
        r->no_memory = true;
        return true;
    }
    d->helpers = more;
    more[d->n_helpers] = (struct sxs_instrument_called){
        .runtime = v->runtime, .failed = v->failed != 0, .threw = v->threw};
    keep_text(r, &more[d->n_helpers++].text, v->text, v->size);
    return true;
}

static struct sxs_instrumented_rule *rule_at(struct instrument_reading *r, uint32_t number)
{
    struct sxs_instrument_data *d = r->d;
    uint32_t                    at = index_of(r, &r->rules, number);
    d->rules = make_room(r, d->rules, d->n_rules, &r->cap_rules, sizeof(*d->rules));
    if (r->no_memory)
        return NULL;
    if (at == d->n_rules)
        d->rules[d->n_rules++] = (struct sxs_instrumented_rule){.number = number};
    return &d->rules[at];
}

static bool take_rule(struct instrument_reading *r, const struct sxs_record *record)
{
    const struct sxs_instrument_rule *v = (const void *)record;
    struct sxs_instrumented_rule     *s;
    if (record->size < sizeof(*v) || v->number >= METHODS_MAX ||
        record->size <
            offsetof(struct sxs_instrument_rule, text) + v->name_size + v->file_size + v->text_size)
        return false;
    s = rule_at(r, v->number);
    if (!s)
        return true;
    s->has_record = true;
    s->line = v->line;
    s->without_il = v->without_il;
    s->matched = v->matched != 0;
    s->gone = v->gone != 0;
    keep_text(r, &s->name, v->text, v->name_size);
    keep_text(r, &s->file, v->text + v->name_size, v->file_size);
    keep_text(r, &s->text, v->text + v->name_size + v->file_size, v->text_size);
    return true;
}

static bool take_record(const struct sxs_record *record, uint16_t type, void *out)
{
    switch (type) {
    case SXS_INSTRUMENT_METHOD: return take_method(out, record);
    case SXS_INSTRUMENT_STATE: return take_state(out, record);
    case SXS_INSTRUMENT_COUNTS_OLD:
    case SXS_INSTRUMENT_COUNTS: return take_counts(out, record);
    case SXS_INSTRUMENT_LABEL: return take_label(out, record);
    case SXS_INSTRUMENT_HELPER: return take_helper(out, record);
    case SXS_INSTRUMENT_RULE: return take_rule(out, record);
    default: return false;
    }
}

/* ---- the file ------------------------------------------------------------------------------ */

uint64_t sxs_instrument_duration(const struct sxs_instrument_data *d, uint64_t ticks)
{
    const struct sxs_instrument_header *h = &d->head;
    double all = (double)(h->seen_tick - h->started_tick), ns;
    ns = all > 0 ? (double)ticks * ((double)(h->seen_ns - h->started_ns) / all) : 0;
    return ns > 0 && ns < 9e18 ? (uint64_t)ns : 0;
}

uint64_t sxs_instrument_ns(const struct sxs_instrument_data *d, uint64_t tick)
{
    return tick < d->head.started_tick ? 0
                                       : sxs_instrument_duration(d, tick - d->head.started_tick);
}

static void make_ns(struct sxs_instrument_data *d)
{
    for (size_t i = 0; i < d->n_methods; i++) {
        d->methods[i].total_ns = sxs_instrument_duration(d, d->methods[i].total_ns);
        d->methods[i].sum_ns = sxs_instrument_duration(d, d->methods[i].sum_ns);
    }
}

static int by_number(const void *key, const void *method)
{
    uint32_t number = *(const uint32_t *)key,
             its = ((const struct sxs_instrumented *)method)->number;
    return (number > its) - (number < its);
}

static int by_numbers(const void *a, const void *b)
{
    return by_number(&((const struct sxs_instrumented *)a)->number, b);
}

static int by_numbers_of_rules(const void *a, const void *b)
{
    uint32_t x = ((const struct sxs_instrumented_rule *)a)->number,
             y = ((const struct sxs_instrumented_rule *)b)->number;
    return (x > y) - (x < y);
}

const struct sxs_instrumented *sxs_instrument_find(const struct sxs_instrument_data *d,
                                                   uint32_t number)
{
    return d->n_methods ? bsearch(&number, d->methods, d->n_methods, sizeof(*d->methods), by_number)
                        : NULL;
}

/* Remove methods and rules without a record of their own, replace NULL texts by "", and sort both. */
static void tidy_methods(struct instrument_reading *r)
{
    struct sxs_instrument_data *d = r->d;
    size_t                      n = 0;
    for (size_t i = 0; i < d->n_methods; i++) {
        struct sxs_instrumented *s = &d->methods[i];
        if (!s->has_record) {
            free(s->rules);
            free(s->reason);
            free(s->label);
            continue;
        }
        if (!s->rules)
            keep_text(r, &s->rules, "", 0);
        if (!s->reason)
            keep_text(r, &s->reason, "", 0);
        if (!s->label)
            keep_text(r, &s->label, "", 0);
        d->methods[n++] = *s;
    }
    d->n_methods = n;
    if (n)
        qsort(d->methods, n, sizeof(*d->methods), by_numbers);
    n = 0;
    for (size_t i = 0; i < d->n_rules; i++)
        if (d->rules[i].has_record)
            d->rules[n++] = d->rules[i];
    d->n_rules = n;
    if (n)
        qsort(d->rules, n, sizeof(*d->rules), by_numbers_of_rules);
}

/* Read the traced calls from the file "traced". If that file cannot be read, add a message and keep
 * the other data. Returns 0 or ENOMEM. */
static int read_traced(struct sxs_instrument_data *d, const struct sxs_files *folder)
{
    char why[256];
    int  err = sxs_traced_read(folder, &d->traced, why, sizeof(why));
    if (err == ENOMEM)
        return err;
    if (err && err != ENOENT)
        sxs_lines_add(&d->problems, &d->n_problems, SXS_TRACED_FILE ": %s", why);
    for (size_t i = 0; i < d->traced.n_problems; i++)
        sxs_lines_add(&d->problems, &d->n_problems, SXS_TRACED_FILE ": %s", d->traced.problems[i]);
    for (size_t i = 0; i < d->traced.n_calls; i++) {
        struct sxs_instrumented *s =
            (struct sxs_instrumented *)(uintptr_t)sxs_instrument_find(d, d->traced.calls[i].method);
        if (s)
            s->traced++;
    }
    return 0;
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

int sxs_instrument_read(const struct sxs_files *folder, struct sxs_instrument_data **out, char *why,
                        size_t why_size)
{
    struct sxs_instrument_data *d = calloc(1, sizeof(*d));
    struct instrument_reading   r = {.d = d};
    struct sxs_chunk_reader     reader;
    int                         err;
    *out = NULL;
    if (!d) {
        snprintf(why, why_size, "no memory");
        return ENOMEM;
    }
    err = sxs_chunk_reader_open(&reader, folder, &kind, &d->head, why, why_size);
    if (err) {
        free(d);
        return err;
    }
    while (!r.no_memory && sxs_chunk_reader_next(&reader, SXS_INSTRUMENT_LAST, take_record, &r))
        ;
    note_problems(d, &reader);
    sxs_chunk_reader_close(&reader);
    tidy_methods(&r);
    sxs_numbers_free(&r.methods);
    sxs_numbers_free(&r.rules);
    make_ns(d);
    if (r.no_memory || read_traced(d, folder) == ENOMEM ||
        sxs_thread_names_read_all(folder, &d->thread_names) == ENOMEM) {
        sxs_instrument_free(d);
        snprintf(why, why_size, "no memory");
        return ENOMEM;
    }
    *out = d;
    return 0;
}

const char *sxs_instrument_thread(const struct sxs_instrument_data *d,
                                  const struct sxs_traced_call     *call)
{
    return sxs_thread_names_at(&d->thread_names, d->head.pid, call->tid,
                               d->head.started_ns + sxs_instrument_ns(d, call->started_tick));
}

void sxs_instrument_free(struct sxs_instrument_data *d)
{
    if (!d)
        return;
    for (size_t i = 0; i < d->n_methods; i++) {
        free(d->methods[i].assembly);
        free(d->methods[i].name);
        free(d->methods[i].rules);
        free(d->methods[i].reason);
        free(d->methods[i].label);
    }
    for (size_t i = 0; i < d->n_rules; i++) {
        free(d->rules[i].name);
        free(d->rules[i].file);
        free(d->rules[i].text);
    }
    free(d->rules);
    for (size_t i = 0; i < d->n_helpers; i++)
        free(d->helpers[i].text);
    free(d->helpers);
    free(d->methods);
    sxs_thread_names_free(&d->thread_names);
    sxs_traced_free(&d->traced);
    sxs_lines_free(d->problems, d->n_problems);
    free(d);
}

const char *sxs_instrumented_state_text(uint8_t state)
{
    static const char *const texts[] = {
#define X(name, text) text,
        SXS_INSTRUMENTED_STATES(X)
#undef X
    };
    return state < SXS_N_INSTRUMENTED_STATES ? texts[state] : "?";
}
