/* SPDX-License-Identifier: MIT */
#include "cmd/traces/traces.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/output/must.h"
#include "cmd/output/processes.h"
#include "cmd/output/table_hash.h"

int sxs_trace_id_read(const char *text, char out[SXS_TRACE_ID_SIZE])
{
    size_t n = 0;
    if (strlen(text) == 55 && text[2] == '-' && text[35] == '-') { /* a traceparent */
        text += 3;
        n = 32;
    } else {
        n = strlen(text);
    }
    if (n < 4 || n > 32)
        return -1;
    for (size_t i = 0; i < n; i++) {
        if (!isxdigit((unsigned char)text[i]))
            return -1;
        out[i] = (char)tolower((unsigned char)text[i]);
    }
    out[n] = '\0';
    return 0;
}

const char *sxs_trace_text(const struct sxs_trace *trace, char out[SXS_TRACE_ID_SIZE])
{
    for (size_t i = 0; i < sizeof(trace->id); i++)
        snprintf(out + 2 * i, 3, "%02x", trace->id[i]);
    return out;
}

/* ---- the code of runtimes -------------------------------------------------------------------- */

struct range {
    uint64_t lo, hi;
    uint16_t runtime;
};

struct sxs_trace_code {
    struct range *all; /* owned; by address */
    size_t        n, cap;
    char        **names; /* owned, as its texts; of endpoints; NULL: none */
    size_t        n_names;
    struct sxs_numbers numbers; /* of endpoints, by index in `names` */
};

static int by_address(const void *a, const void *b)
{
    const struct range *x = a, *y = b;
    return (x->lo > y->lo) - (x->lo < y->lo);
}

static void add_name(struct sxs_trace_code *code, const struct sxs_samples_record *r)
{
    if (!r->name->number)
        return;
    uint32_t at = sxs_must_index(&code->numbers, r->name->number);
    code->names = sxs_must_reach(code->names, &code->n_names, at, sizeof(*code->names));
    free(code->names[at]);
    code->names[at] = sxs_must(strndup(r->text[0], r->text_size[0]));
}

/* Returns the name of the endpoint of a sample, or NULL. */
static const char *name_of(const struct sxs_trace_code *code, const struct sxs_sample_context *c)
{
    uint32_t at = sxs_numbers_find(&code->numbers, c->endpoint);
    return at < code->n_names ? code->names[at] : NULL;
}

/* Returns the route of a sample, or NULL when it is not known. */
static const char *route_of(const struct sxs_trace_code *code, const struct sxs_sample_context *c)
{
    return c->source >= SXS_ENDPOINT_ROUTE ? name_of(code, c) : NULL;
}

struct sxs_trace_code *sxs_trace_code_read(struct sxs_samples *reader)
{
    struct sxs_trace_code    *code = sxs_must_zeroed(1, sizeof(*code));
    struct sxs_samples_record r;
    sxs_samples_rewind(reader);
    while (sxs_samples_next(reader, &r))
        if (r.type == SXS_RECORD_CODE) {
            SXS_GROW(code->all, code->n, code->cap);
            code->all[code->n++] = (struct range){r.code->lo, r.code->hi, r.code->runtime};
        } else if (r.type == SXS_RECORD_NAME) {
            add_name(code, &r);
        }
    sxs_samples_rewind(reader);
    if (code->n)
        qsort(code->all, code->n, sizeof(*code->all), by_address);
    return code;
}

void sxs_trace_code_free(struct sxs_trace_code *code)
{
    if (!code)
        return;
    for (size_t i = 0; i < code->n_names; i++)
        free(code->names[i]);
    free(code->names);
    sxs_numbers_free(&code->numbers);
    free(code->all);
    free(code);
}

/* Returns the number of the runtime whose code is at an address; 0: none. */
static uint16_t runtime_at(const struct sxs_trace_code *code, uint64_t address)
{
    size_t lo = 0, hi = code->n;
    while (lo < hi) { /* the last one that begins at or below the address */
        size_t middle = lo + (hi - lo) / 2;
        if (code->all[middle].lo <= address)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo && address < code->all[lo - 1].hi ? code->all[lo - 1].runtime : 0;
}

const struct sxs_sample_context *sxs_trace_context(const struct sxs_trace_code    *code,
                                                   const struct sxs_record_sample *v)
{
    size_t                           n;
    const struct sxs_sample_context *all = sxs_sample_contexts(v, &n);
    if (n < 2)
        return n ? all : NULL;
    for (unsigned i = 0; i < v->n; i++) {
        uint16_t runtime = runtime_at(code, v->ips[i] - (i > 0));
        for (size_t k = 0; runtime && k < n; k++)
            if (all[k].runtime == runtime)
                return &all[k];
    }
    return NULL; /* several, and no frame says which */
}

/* ---- the table ------------------------------------------------------------------------------- */

static uint32_t hash_of(const struct sxs_session_process *process, const uint8_t id[16],
                        uint32_t runtime)
{
    return (uint32_t)sxs_table_hash(id, 16, (uint64_t)process->pid << 32 | runtime);
}

/* The part of a trace that a sample belongs to. */
struct trace_part {
    const struct sxs_session_process *process;
    const struct sxs_sample_context  *context;
    const char                       *route; /* NULL: that without a route */
    bool                              any;   /* whatever its route is */
};

static bool is_part(const struct sxs_traces *t, const struct sxs_trace *trace,
                    const struct trace_part *p)
{
    bool has_route = trace->source >= SXS_ENDPOINT_ROUTE;
    if (trace->process != p->process || trace->runtime != p->context->runtime ||
        memcmp(trace->id, p->context->trace, sizeof(trace->id)) != 0)
        return false;
    if (p->any || !p->route)
        return p->any || !has_route;
    return has_route && strcmp(sxs_strings_text(&t->strings, trace->endpoint), p->route) == 0;
}

/* Returns the number of a trace + 1; 0: it is not there, and *at is where it would be. */
static uint32_t find_trace(const struct sxs_traces *t, const struct trace_part *p, uint32_t hash,
                           size_t *at)
{
    uint32_t number;
    *at = hash;
    for (; (number = sxs_index_next(&t->index, hash, at)) != 0; ++*at)
        if (is_part(t, &t->all[number - 1], p))
            return number;
    return 0;
}

static struct sxs_trace *trace_of(struct sxs_traces *t, const struct trace_part *p)
{
    const struct sxs_sample_context *c = p->context;
    uint32_t                         hash = hash_of(p->process, c->trace, c->runtime), number;
    struct sxs_trace                *trace;
    size_t                           at;
    sxs_must(sxs_index_reserve(&t->index) == 0 ? t : NULL);
    number = find_trace(t, p, hash, &at);
    if (number)
        return &t->all[number - 1];
    SXS_GROW(t->all, t->n, t->cap);
    sxs_index_put(&t->index, at, hash, t->n);
    trace = &t->all[t->n++];
    *trace = (struct sxs_trace){.process = p->process, .runtime = c->runtime};
    memcpy(trace->id, c->trace, sizeof(trace->id));
    if (p->route) {
        trace->endpoint = sxs_strings_add(&t->strings, p->route, strlen(p->route));
        trace->source = SXS_ENDPOINT_ROUTE;
    }
    return trace;
}

const struct sxs_trace *sxs_traces_of(const struct sxs_traces          *t,
                                      const struct sxs_session_process *process,
                                      const struct sxs_trace_code      *code,
                                      const struct sxs_record_sample   *v)
{
    const struct sxs_sample_context *c = t->n ? sxs_trace_context(code, v) : NULL;
    struct trace_part                p = {.process = process, .context = c};
    uint32_t                         hash, number;
    size_t                           at;
    if (!c)
        return NULL;
    p.route = route_of(code, c);
    hash = hash_of(process, c->trace, c->runtime);
    number = find_trace(t, &p, hash, &at);
    p.any = true; /* what has no route was counted at the only one that the trace has */
    if (!number)
        number = find_trace(t, &p, hash, &at);
    return number ? &t->all[number - 1] : NULL;
}

/* ---- loading --------------------------------------------------------------------------------- */

struct traces_loading {
    struct sxs_traces        *t;
    struct sxs_samples_header head; /* of the file that is read */
};

/* The best name of a trace without a route is kept, and of those the latest. */
static void take_name(struct sxs_traces *t, struct sxs_trace *trace,
                      const struct sxs_sample_context *c, const char *name, uint64_t time_ns)
{
    if (trace->source >= SXS_ENDPOINT_ROUTE || !name || !*name || c->source < trace->source ||
        (c->source == trace->source && time_ns < trace->endpoint_ns))
        return;
    trace->endpoint = sxs_strings_add(&t->strings, name, strlen(name));
    trace->source = c->source;
    trace->endpoint_ns = time_ns;
}

static void take_sample(struct traces_loading *l, const struct sxs_session_process *process,
                        const struct sxs_trace_code *code, const struct sxs_record_sample *v)
{
    const struct sxs_sample_context *c = sxs_trace_context(code, v);
    uint64_t                         hz = l->head.asked_hz ? l->head.asked_hz : 1000;
    uint64_t                         weight =
        v->weight_ns && v->weight_ns < 86400000000000u ? v->weight_ns : 1000000000u / hz;
    struct trace_part p = {.process = process, .context = c, .route = c ? route_of(code, c) : NULL};
    struct sxs_trace *trace = c ? trace_of(l->t, &p) : NULL;
    if (!trace)
        return;
    trace->samples++;
    if (v->waiting)
        trace->waiting_ns += weight;
    else
        trace->running_ns += weight;
    take_name(l->t, trace, c, name_of(code, c), v->time_ns);
    if (!trace->first_ns || v->time_ns < trace->first_ns)
        trace->first_ns = v->time_ns;
    if (v->time_ns > trace->last_ns)
        trace->last_ns = v->time_ns;
}

static void take_file(struct traces_loading *l, const struct sxs_process_part *part,
                      struct sxs_samples *reader)
{
    struct sxs_trace_code    *code = sxs_trace_code_read(reader);
    struct sxs_samples_record r;
    l->t->on = true;
    l->t->n_missed += atomic_load_explicit(&l->head.n_contexts_missed, memory_order_relaxed);
    while (sxs_samples_next(reader, &r))
        if (r.type == SXS_RECORD_SAMPLE &&
            sxs_period_has(part->period,
                           l->head.started_realtime_ns + (r.sample->time_ns - l->head.started_ns)))
            take_sample(l, part->process, code, r.sample);
    sxs_trace_code_free(code);
}

static int load_part(void *to, const struct sxs_process_part *part)
{
    struct traces_loading *l = to;
    struct sxs_samples    *reader;
    char                   why[256];
    int                    err = sxs_samples_open(part->files, &reader, why, sizeof(why));
    if (err)
        return err == ENOMEM ? err : 0;
    memcpy(&l->head, sxs_samples_head(reader), sizeof(l->head));
    if (l->head.has_contexts)
        take_file(l, part, reader);
    sxs_samples_close(reader);
    return 0;
}

static bool fits(const struct sxs_traces *t, const struct sxs_trace *trace,
                 const struct sxs_trace_choice *choice)
{
    char        id[SXS_TRACE_ID_SIZE];
    const char *endpoint = sxs_strings_text(&t->strings, trace->endpoint);
    if (choice->trace &&
        strncmp(sxs_trace_text(trace, id), choice->trace, strlen(choice->trace)) != 0)
        return false;
    return !choice->endpoint || strcmp(endpoint, choice->endpoint) == 0 ||
           fnmatch(choice->endpoint, endpoint, 0) == 0;
}

static int by_weight(const void *a, const void *b)
{
    const struct sxs_trace *x = a, *y = b;
    uint64_t                v = x->running_ns + x->waiting_ns, w = y->running_ns + y->waiting_ns;
    if (v != w)
        return v < w ? 1 : -1;
    return memcmp(x->id, y->id, sizeof(x->id));
}

/* Returns the only part of a trace that has a route; NULL: there is none, or several. */
static struct sxs_trace *only_route(struct sxs_traces *t, const struct sxs_trace *of)
{
    uint32_t          hash = hash_of(of->process, of->id, of->runtime), number;
    struct sxs_trace *only = NULL;
    for (size_t at = hash; (number = sxs_index_next(&t->index, hash, &at)) != 0; at++) {
        struct sxs_trace *other = &t->all[number - 1];
        if (other->source < SXS_ENDPOINT_ROUTE || other->process != of->process ||
            other->runtime != of->runtime || memcmp(other->id, of->id, sizeof(of->id)) != 0)
            continue;
        if (only)
            return NULL;
        only = other;
    }
    return only;
}

/* Counts the samples of a trace whose route could not be read at the only route that it has. Leaves
 * the index to order_traces(). */
static void join_parts(struct sxs_traces *t)
{
    size_t n = 0;
    for (size_t i = 0; i < t->n; i++) {
        struct sxs_trace *v = &t->all[i];
        struct sxs_trace *into = v->source < SXS_ENDPOINT_ROUTE ? only_route(t, v) : NULL;
        if (!into)
            continue;
        into->samples += v->samples;
        into->running_ns += v->running_ns;
        into->waiting_ns += v->waiting_ns;
        into->first_ns = v->first_ns < into->first_ns ? v->first_ns : into->first_ns;
        into->last_ns = v->last_ns > into->last_ns ? v->last_ns : into->last_ns;
        v->samples = 0;
    }
    for (size_t i = 0; i < t->n; i++)
        if (t->all[i].samples)
            t->all[n++] = t->all[i];
    t->n = n;
}

/* Orders the traces, and enters their new places into the index. */
static void order_traces(struct sxs_traces *t)
{
    if (t->n)
        qsort(t->all, t->n, sizeof(*t->all), by_weight);
    sxs_index_free(&t->index);
    for (size_t i = 0; i < t->n; i++) {
        uint32_t hash = hash_of(t->all[i].process, t->all[i].id, t->all[i].runtime);
        size_t   at = hash;
        sxs_must(sxs_index_reserve(&t->index) == 0 ? t : NULL);
        while (sxs_index_next(&t->index, hash, &at))
            at++;
        sxs_index_put(&t->index, at, hash, i);
    }
}

struct sxs_traces_loading {
    struct traces_loading l;
};

struct sxs_opened_reader sxs_traces_reader(struct sxs_traces *out)
{
    memset(out, 0, sizeof(*out));
    sxs_strings_add(&out->strings, "", 0);
    out->loading = sxs_must_zeroed(1, sizeof(*out->loading));
    out->loading->l.t = out;
    return (struct sxs_opened_reader){.take = load_part,
                                      .arg = &out->loading->l,
                                      .files = sxs_session_file_bit(SXS_SAMPLES_FILE)};
}

void sxs_traces_end(struct sxs_traces *t, const struct sxs_trace_choice *choice)
{
    free(t->loading);
    t->loading = NULL;
    join_parts(t);
    order_traces(t);
    for (size_t i = 0; i < t->n; i++)
        t->all[i].wanted = fits(t, &t->all[i], choice);
}

int sxs_traces_load(const struct sxs_opened *v, const char *process,
                    const struct sxs_trace_choice *choice, struct sxs_traces *out)
{
    struct sxs_opened_reader reader = sxs_traces_reader(out);
    int err = v->recorded.has_contexts ? sxs_opened_read(v, process, &reader, 1) : 0;
    sxs_traces_end(out, choice);
    return err;
}

bool sxs_traces_any(const struct sxs_traces *t)
{
    for (size_t i = 0; i < t->n; i++)
        if (t->all[i].wanted)
            return true;
    return false;
}

void sxs_traces_free(struct sxs_traces *t)
{
    free(t->all);
    free(t->loading);
    sxs_index_free(&t->index);
    sxs_strings_free(&t->strings);
    memset(t, 0, sizeof(*t));
}
