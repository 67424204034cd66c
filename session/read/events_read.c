/* SPDX-License-Identifier: MIT */
#include "session/read/events_read.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session/read/chunks_read.h"
#include "session/read/collections_read.h"
#include "session/read/file_read.h"
#include "session/read/numbers.h"
#include "base/sum.h"

#define NAMES_MAX  (1u << 22) /* limit of the numbers of names */
#define TIERS      8          /* number of values of enum sxs_code_tier */

const struct sxs_chunk_file sxs_events_kind = {
    .name = SXS_EVENTS_FILE,
    .magic = SXS_EVENTS_MAGIC,
    .version = SXS_EVENTS_VERSION,
    .head_size = sizeof(struct sxs_events_header),
    .n_chunks_at = offsetof(struct sxs_events_header, n_chunks),
    .max_chunks_at = offsetof(struct sxs_events_header, max_chunks),
};

/* Numbers of names of a throw site or an exception. They are replaced by texts when all names were
 * read. */
struct throw_site_names {
    uint32_t type, thrown, caught;
};

/* A file that is being read. */
struct events_reading {
    struct sxs_events_data *e;
    struct throw_site_names *of_throw_sites,
        *of_exceptions; /* by index of throw site and exception; owned */
    size_t                  cap_of_throw_sites, cap_of_exceptions;
    struct sxs_numbers      names; /* numbers of them, by index in e->names */
    size_t                  cap_names;
    int                     no_memory;
};

/* ---- memory -------------------------------------------------------------------------------- */

/* Make room for one more item in an array of @n items of @each bytes. Returns the array, which may
 * have moved; sets r->no_memory when it could not grow. */
static void *grow_array(struct events_reading *r, void *array, size_t n, size_t *cap, size_t each)
{
    void *grown = sxs_list_room(array, n, cap, each);
    if (!grown) {
        r->no_memory = 1;
        return array;
    }
    return grown;
}

static const char *keep_text(struct events_reading *r, const char *bytes, size_t size)
{
    struct sxs_events_data *e = r->e;
    char                   *copy;
    if (!size)
        return "";
    e->texts = grow_array(r, e->texts, e->n_texts, &e->cap_texts, sizeof(*e->texts));
    copy = r->no_memory ? NULL : strndup(bytes, size);
    if (!copy) {
        r->no_memory = 1;
        return "";
    }
    e->texts[e->n_texts++] = copy;
    return copy;
}

/* ---- records: each function returns false when its record is damaged ----------------------- */

static bool record_fits(const struct sxs_record *record, uint64_t need)
{
    return need <= record->size;
}

static bool take_name(struct events_reading *r, const struct sxs_record *record)
{
    const struct sxs_event_name *v = (const void *)record;
    struct sxs_events_data      *e = r->e;
    if (!record_fits(record, sizeof(*v)) ||
        !record_fits(record, offsetof(struct sxs_event_name, text) + v->size) || !v->number ||
        v->number >= NAMES_MAX)
        return false;
    uint32_t at;
    e->names = grow_array(r, e->names, e->n_names, &r->cap_names, sizeof(*e->names));
    if (r->no_memory || sxs_numbers_add(&r->names, v->number, &at) != 0) {
        r->no_memory = 1;
        return true;
    }
    if (at == e->n_names)
        e->n_names++;
    else
        free(e->names[at]);
    e->names[at] = strndup(v->text, v->size);
    return true;
}

static bool take_throw_site(struct events_reading *r, const struct sxs_record *record)
{
    const struct sxs_event_throw_site *v = (const void *)record;
    struct sxs_events_data      *e = r->e;
    if (!record_fits(record, sizeof(*v)) || v->fate >= SXS_N_FATES)
        return false;
    e->throw_sites = grow_array(r, e->throw_sites, e->n_throw_sites, &e->cap_throw_sites,
                                sizeof(*e->throw_sites));
    r->of_throw_sites = grow_array(r, r->of_throw_sites, e->n_throw_sites, &r->cap_of_throw_sites,
                                   sizeof(*r->of_throw_sites));
    if (r->no_memory)
        return true;
    r->of_throw_sites[e->n_throw_sites] = (struct throw_site_names){v->type, v->thrown, v->caught};
    e->throw_sites[e->n_throw_sites++] = (struct sxs_events_throw_site){
        .runtime = v->runtime,
        .fate = v->fate,
        .rethrown = v->rethrown != 0,
        .n = atomic_load_explicit(&v->n, memory_order_relaxed),
        .total_ns = atomic_load_explicit(&v->total_ns, memory_order_relaxed),
        .last_ns = atomic_load_explicit(&v->last_ns, memory_order_relaxed),
        .message = "",
    };
    return true;
}

static bool take_exception(struct events_reading *r, const struct sxs_record *record)
{
    const struct sxs_event_exception *v = (const void *)record;
    struct sxs_events_data           *e = r->e;
    const char                       *message;
    if (!record_fits(record, sizeof(*v)) || v->message_size > SXS_MESSAGE_MAX ||
        !record_fits(record,
                     offsetof(struct sxs_event_exception, message) + (uint64_t)v->message_size) ||
        atomic_load(&v->fate) >= SXS_N_FATES)
        return false;
    e->exceptions =
        grow_array(r, e->exceptions, e->n_exceptions, &e->cap_exceptions, sizeof(*e->exceptions));
    r->of_exceptions = grow_array(r, r->of_exceptions, e->n_exceptions, &r->cap_of_exceptions,
                                  sizeof(*r->of_exceptions));
    message = keep_text(r, v->message, v->message_size);
    if (r->no_memory)
        return true;
    r->of_exceptions[e->n_exceptions] =
        (struct throw_site_names){v->type, atomic_load(&v->thrown), atomic_load(&v->caught)};
    e->exceptions[e->n_exceptions++] = (struct sxs_events_exception){
        .time_ns = v->time_ns,
        .duration_ns = atomic_load(&v->duration_ns),
        .tid = v->tid,
        .runtime = v->runtime,
        .fate = atomic_load(&v->fate),
        .rethrown = v->rethrown != 0,
        .cut = v->message_cut != 0,
        .landed = atomic_load(&v->kept) != 0,
        .message = message,
    };
    return true;
}

static bool take_span(struct events_reading *r, const struct sxs_record *record)
{
    const struct sxs_event_span *v = (const void *)record;
    struct sxs_events_data      *e = r->e;
    const char                  *text;
    if (!record_fits(record, sizeof(*v)) ||
        !record_fits(record, offsetof(struct sxs_event_span, text) + v->size) ||
        v->kind >= SXS_N_EVENT_KINDS || v->tier >= TIERS)
        return false;
    e->spans = grow_array(r, e->spans, e->n_spans, &e->cap_spans, sizeof(*e->spans));
    text = keep_text(r, v->text, v->size);
    if (r->no_memory)
        return true;
    e->spans[e->n_spans++] = (struct sxs_events_span){
        .time_ns = v->time_ns,
        .duration_ns = v->duration_ns,
        .tid = v->tid,
        .runtime = v->runtime,
        .a = v->a,
        .b = v->b,
        .kind = v->kind,
        .tier = (uint8_t)v->tier,
        .failed = v->failed != 0,
        .text = text,
    };
    return true;
}

static bool take_collection(struct events_reading *r, const struct sxs_record *record)
{
    struct sxs_events_data      *e = r->e;
    struct sxs_events_collection read;
    if (!sxs_collection_read(record, &read))
        return false;
    e->collections = grow_array(r, e->collections, e->n_collections, &e->cap_collections,
                                sizeof(*e->collections));
    if (!r->no_memory)
        e->collections[e->n_collections++] = read;
    return true;
}

static bool take_record(const struct sxs_record *record, uint16_t type, void *out)
{
    switch (type) {
    case SXS_EVENT_NAME: return take_name(out, record);
    case SXS_EVENT_THROW_SITE: return take_throw_site(out, record);
    case SXS_EVENT_EXCEPTION: return take_exception(out, record);
    case SXS_EVENT_SPAN: return take_span(out, record);
    case SXS_EVENT_COLLECTION: return take_collection(out, record);
    default: return false;
    }
}

/* ---- after all records were read ----------------------------------------------------------- */

static const char *name_at(const struct events_reading *r, uint32_t number)
{
    uint32_t at = sxs_numbers_find(&r->names, number);
    return at != SXS_NUMBERS_NONE && r->e->names[at] ? r->e->names[at] : "";
}

int sxs_throw_site_order(const void *a, const void *b)
{
    const struct sxs_events_throw_site *x = a, *y = b;
    int c = strcmp(x->type, y->type);
    c = c ? c : strcmp(x->thrown, y->thrown);
    c = c ? c : strcmp(x->caught, y->caught);
    c = c ? c : (x->runtime > y->runtime) - (x->runtime < y->runtime);
    c = c ? c : x->fate - y->fate;
    return c ? c : x->rethrown - y->rethrown;
}

static int by_count(const void *a, const void *b)
{
    const struct sxs_events_throw_site *x = a, *y = b;
    return x->n != y->n ? (x->n < y->n ? 1 : -1) : sxs_throw_site_order(a, b);
}

/* Join equal throw sites and add up their counts. One can appear twice: two threads added it
 * concurrently, or its code was moved. */
static void join_throw_sites(struct sxs_events_data *e)
{
    size_t n = 0;
    if (!e->n_throw_sites)
        return;
    qsort(e->throw_sites, e->n_throw_sites, sizeof(*e->throw_sites), sxs_throw_site_order);
    for (size_t i = 1; i < e->n_throw_sites; i++) {
        struct sxs_events_throw_site *v = &e->throw_sites[n];
        if (sxs_throw_site_order(v, &e->throw_sites[i]) != 0) {
            e->throw_sites[++n] = e->throw_sites[i];
            continue;
        }
        sxs_sum_add(&v->n, e->throw_sites[i].n);
        sxs_sum_add(&v->total_ns, e->throw_sites[i].total_ns);
        if (v->last_ns < e->throw_sites[i].last_ns)
            v->last_ns = e->throw_sites[i].last_ns;
    }
    e->n_throw_sites = n + 1;
}

struct sxs_events_throw_site *sxs_throw_site_of(const struct sxs_events_data      *e,
                                                const struct sxs_events_exception *v)
{
    const struct sxs_events_throw_site like = {.type = v->type,
                                               .thrown = v->thrown,
                                               .caught = v->caught,
                                               .runtime = v->runtime,
                                               .fate = v->fate,
                                               .rethrown = v->rethrown};
    return e->n_throw_sites ? bsearch(&like, e->throw_sites, e->n_throw_sites, sizeof(like),
                                      sxs_throw_site_order)
                            : NULL;
}

/* Give each throw site the message of one of its exceptions. Throw sites are sorted by
 * sxs_throw_site_order(). */
static void give_messages(struct sxs_events_data *e)
{
    for (size_t i = 0; i < e->n_exceptions; i++) {
        const struct sxs_events_exception *v = &e->exceptions[i];
        struct sxs_events_throw_site      *s = sxs_throw_site_of(e, v);
        if (s && v->landed && !s->message[0])
            s->message = v->message;
    }
}

static int by_exception_time(const void *a, const void *b)
{
    const struct sxs_events_exception *x = a, *y = b;
    return (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
}

static int by_span_time(const void *a, const void *b)
{
    const struct sxs_events_span *x = a, *y = b;
    return (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
}

void sxs_events_order(struct sxs_events_data *e)
{
    join_throw_sites(e);
    give_messages(e);
    if (e->n_throw_sites)
        qsort(e->throw_sites, e->n_throw_sites, sizeof(*e->throw_sites), by_count);
    if (e->n_exceptions)
        qsort(e->exceptions, e->n_exceptions, sizeof(*e->exceptions), by_exception_time);
    if (e->n_spans)
        qsort(e->spans, e->n_spans, sizeof(*e->spans), by_span_time);
    if (e->n_collections)
        qsort(e->collections, e->n_collections, sizeof(*e->collections), sxs_collection_order);
}

/* Replace numbers by names, join equal throw sites, and sort. */
static void resolve_names(struct events_reading *r)
{
    struct sxs_events_data *e = r->e;
    for (size_t i = 0; i < e->n_throw_sites; i++) {
        e->throw_sites[i].type = name_at(r, r->of_throw_sites[i].type);
        e->throw_sites[i].thrown = name_at(r, r->of_throw_sites[i].thrown);
        e->throw_sites[i].caught = name_at(r, r->of_throw_sites[i].caught);
    }
    for (size_t i = 0; i < e->n_exceptions; i++) {
        e->exceptions[i].type = name_at(r, r->of_exceptions[i].type);
        e->exceptions[i].thrown = name_at(r, r->of_exceptions[i].thrown);
        e->exceptions[i].caught = name_at(r, r->of_exceptions[i].caught);
    }
    sxs_events_order(e);
}

static void take_problems(struct sxs_events_data *e, struct sxs_chunk_reader *chunks)
{
    const char *line;
    for (size_t i = 0; (line = sxs_chunk_reader_problem(chunks, i)) != NULL; i++)
        sxs_lines_add(&e->problems, &e->n_problems, "%s", line);
}

int sxs_events_read(const struct sxs_files *folder, struct sxs_events_data **out, char *why,
                    size_t why_size)
{
    struct sxs_chunk_reader chunks;
    struct events_reading   r = {.e = calloc(1, sizeof(*r.e))};
    int                     err;
    *out = NULL;
    if (!r.e) {
        snprintf(why, why_size, "out of memory");
        return ENOMEM;
    }
    err = sxs_chunk_reader_open(&chunks, folder, &sxs_events_kind, &r.e->head, why, why_size);
    if (err) {
        free(r.e);
        return err;
    }
    r.e->head.command[sizeof(r.e->head.command) - 1] = '\0';
    while (!r.no_memory && sxs_chunk_reader_next(&chunks, SXS_EVENT_RECORD_LAST, take_record, &r))
        ;
    take_problems(r.e, &chunks);
    sxs_chunk_reader_close(&chunks);
    if (!r.no_memory)
        resolve_names(&r);
    r.no_memory |= sxs_thread_names_read_all(folder, &r.e->thread_names) != 0;
    free(r.of_throw_sites);
    free(r.of_exceptions);
    sxs_numbers_free(&r.names);
    if (r.no_memory) {
        snprintf(why, why_size, "out of memory");
        sxs_events_free(r.e);
        return ENOMEM;
    }
    *out = r.e;
    return 0;
}

void sxs_events_free(struct sxs_events_data *e)
{
    if (!e)
        return;
    for (size_t i = 0; i < e->n_names; i++)
        free(e->names[i]);
    for (size_t i = 0; i < e->n_texts; i++)
        free(e->texts[i]);
    free(e->names);
    free(e->texts);
    sxs_lines_free(e->problems, e->n_problems);
    free(e->throw_sites);
    free(e->exceptions);
    free(e->spans);
    free(e->collections);
    sxs_thread_names_free(&e->thread_names);
    free(e);
}

const char *sxs_events_thread_name(const struct sxs_events_data *e, uint32_t tid, uint64_t time_ns)
{
    return sxs_thread_names_at(&e->thread_names, e->head.pid, tid, time_ns);
}

const char *sxs_fate_text(const struct sxs_events_data *e, uint8_t fate)
{
    static const char *const texts[] = {
#define X(name, text) [SXS_FATE_##name] = text,
        SXS_EXCEPTION_FATES(X)
#undef X
    };
    if (!atomic_load(&e->head.ended_ns) && atomic_load(&e->head.crash_watch) == SXS_CRASH_UNKNOWN) {
        if (fate == SXS_FATE_SEARCHING)
            return "unhandled";
        if (fate == SXS_FATE_UNWOUND)
            return "unhandled, or by native code";
    }
    return fate < SXS_N_FATES ? texts[fate] : "?";
}

const char *sxs_event_kind_text(uint8_t event_kind)
{
    static const char *const texts[] = {
#define X(name, text) [SXS_KIND_##name] = text,
        SXS_EVENT_KINDS(X)
#undef X
    };
    return event_kind < SXS_N_EVENT_KINDS ? texts[event_kind] : "?";
}
