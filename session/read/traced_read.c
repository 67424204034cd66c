/* SPDX-License-Identifier: MIT */
#include "session/read/traced_read.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session/read/chunks_read.h"
#include "session/read/file_read.h"

static const struct sxs_chunk_file kind = {
    .name = SXS_TRACED_FILE,
    .magic = SXS_TRACED_MAGIC,
    .version = SXS_TRACED_VERSION,
    .head_size = sizeof(struct sxs_traced_header),
    .n_chunks_at = offsetof(struct sxs_traced_header, n_chunks),
    .max_chunks_at = offsetof(struct sxs_traced_header, max_chunks),
};

enum { ARGUMENTS, RESULT, AFTER, THROWN, N_TEXTS };

/* The data of one record of a call; join_calls() makes one part of a call's two records. */
struct call_part {
    uint64_t started, ended; /* ticks */
    uint32_t method, tid, depth;
    bool     has_end, threw;
    uint32_t texts[N_TEXTS]; /* offsets in reading.texts, which has less than 4 GiB; 0: no text */
};

/* A file that is being read. */
struct traced_reading {
    struct call_part *parts; /* owned */
    size_t            n, cap;
    char             *texts;      /* owned; becomes that of the result */
    size_t            used, room; /* bytes of texts: in use, allocated */
    bool              no_memory;
};

/* ---- records ------------------------------------------------------------------------------- */

static struct call_part *add_part(struct traced_reading *r)
{
    struct call_part *more = sxs_list_room(r->parts, r->n, &r->cap, sizeof(*more));
    if (!more) {
        r->no_memory = true;
        return NULL;
    }
    r->parts = more;
    r->parts[r->n] = (struct call_part){0};
    return &r->parts[r->n++];
}

/* Copy a text to r->texts. Returns its offset, or 0 when it is empty or there is no room. */
static uint32_t keep_text(struct traced_reading *r, const char *text, size_t size)
{
    size_t at = r->used ? r->used : 1;
    if (!size)
        return 0;
    if (at + size + 1 > UINT32_MAX)
        return 0;
    if (at + size + 1 > r->room) {
        size_t room = r->room ? r->room * 2 : 65536;
        char  *more = realloc(r->texts, room + size);
        if (!more) {
            r->no_memory = true;
            return 0;
        }
        r->texts = more;
        r->room = room + size;
    }
    memcpy(r->texts + at, text, size);
    r->texts[at + size] = '\0';
    r->used = at + size + 1;
    return (uint32_t)at;
}

static bool take_enter(struct traced_reading *r, const struct sxs_record *record)
{
    const struct sxs_traced_enter *v = (const void *)record;
    struct call_part              *p;
    if (record->size < sizeof(*v) || v->size > SXS_TRACED_TEXT ||
        record->size < offsetof(struct sxs_traced_enter, text) + v->size)
        return false;
    p = add_part(r);
    if (!p)
        return true;
    p->started = v->started_tick;
    p->method = v->method;
    p->tid = v->tid;
    p->texts[ARGUMENTS] = keep_text(r, v->text, v->size);
    return true;
}

static bool take_end(struct traced_reading *r, const struct sxs_record *record)
{
    const struct sxs_traced_end *v = (const void *)record;
    struct call_part            *p;
    size_t                       sizes[3], at = 0;
    if (record->size < sizeof(*v))
        return false;
    sizes[0] = v->result_size;
    sizes[1] = v->after_size;
    sizes[2] = v->thrown_size;
    if (record->size < offsetof(struct sxs_traced_end, text) + sizes[0] + sizes[1] + sizes[2])
        return false;
    p = add_part(r);
    if (!p)
        return true;
    p->started = v->started_tick;
    p->ended = v->ended_tick;
    p->method = v->method;
    p->tid = v->tid;
    p->has_end = true;
    p->threw = v->threw != 0;
    for (int i = 0; i < 3; at += sizes[i++])
        p->texts[RESULT + i] = keep_text(r, v->text + at, sizes[i]);
    return true;
}

static bool take_record(const struct sxs_record *record, uint16_t type, void *out)
{
    return type == SXS_TRACED_ENTER ? take_enter(out, record) : take_end(out, record);
}

/* ---- calls --------------------------------------------------------------------------------- */

static int by_thread(const void *a, const void *b)
{
    const struct call_part *x = a, *y = b;
    if (x->tid != y->tid)
        return x->tid < y->tid ? -1 : 1;
    if (x->started != y->started)
        return x->started < y->started ? -1 : 1;
    if (x->method != y->method)
        return x->method < y->method ? -1 : 1;
    return x->has_end - y->has_end;
}

/* Join the parts of a call's beginning and end into one part. Parts are sorted by by_thread(). */
static void join_calls(struct traced_reading *r)
{
    size_t n = 0;
    for (size_t i = 0; i < r->n; i++) {
        struct call_part *p = &r->parts[i], *before = n ? &r->parts[n - 1] : NULL;
        if (before && !before->has_end && p->has_end && before->tid == p->tid &&
            before->started == p->started && before->method == p->method) {
            p->texts[ARGUMENTS] = before->texts[ARGUMENTS];
            n--;
        }
        r->parts[n++] = *p;
    }
    r->n = n;
    struct call_part *fewer = reallocarray(r->parts, n + 1, sizeof(*fewer));
    if (fewer)
        r->parts = fewer;
}

/* Set the depth of each call. Calls are sorted by thread and start, so a call is nested in the
 * latest earlier call that had not ended when it started. `open` has the ends of the calls in
 * progress, from the outermost to the innermost. */
static void nest_calls(struct traced_reading *r)
{
    uint64_t *open = reallocarray(NULL, r->n + 1, sizeof(*open));
    uint32_t  depth = 0;
    if (!open) {
        r->no_memory = true;
        return;
    }
    for (size_t i = 0; i < r->n; i++) {
        struct call_part *p = &r->parts[i];
        if (i && p->tid != r->parts[i - 1].tid)
            depth = 0;
        while (depth && open[depth - 1] <= p->started)
            depth--;
        p->depth = depth;
        open[depth++] = p->has_end ? p->ended : UINT64_MAX;
    }
    free(open);
}

static int by_time(const void *a, const void *b)
{
    const struct sxs_traced_call *x = a, *y = b;
    if (x->started_tick != y->started_tick)
        return x->started_tick < y->started_tick ? -1 : 1;
    if (x->tid != y->tid)
        return x->tid < y->tid ? -1 : 1;
    return x->depth < y->depth ? -1 : x->depth > y->depth;
}

static const char *text_at(const struct traced_reading *r, uint32_t at)
{
    return at ? r->texts + at : NULL;
}

static void make_calls(struct traced_reading *r, struct sxs_traced_data *d)
{
    d->calls = reallocarray(NULL, r->n + 1, sizeof(*d->calls));
    if (!d->calls) {
        r->no_memory = true;
        return;
    }
    for (size_t i = 0; i < r->n; i++) {
        const struct call_part *p = &r->parts[i];
        d->calls[i] = (struct sxs_traced_call){p->started,
                                               p->ended,
                                               p->method,
                                               p->tid,
                                               p->depth,
                                               p->has_end,
                                               p->threw,
                                               text_at(r, p->texts[ARGUMENTS]),
                                               text_at(r, p->texts[RESULT]),
                                               text_at(r, p->texts[AFTER]),
                                               text_at(r, p->texts[THROWN])};
    }
    d->n_calls = r->n;
    qsort(d->calls, d->n_calls, sizeof(*d->calls), by_time);
}

/* ---- the file ------------------------------------------------------------------------------ */

static void note_problems(struct sxs_traced_data *d, struct sxs_chunk_reader *reader)
{
    const char *line;
    for (size_t i = 0; (line = sxs_chunk_reader_problem(reader, i)) != NULL; i++)
        sxs_lines_add(&d->problems, &d->n_problems, "%s", line);
}

int sxs_traced_read(const struct sxs_files *folder, struct sxs_traced_data *out, char *why,
                    size_t why_size)
{
    struct traced_reading   r = {0};
    struct sxs_chunk_reader reader;
    int                     err;
    memset(out, 0, sizeof(*out));
    err = sxs_chunk_reader_open(&reader, folder, &kind, &out->head, why, why_size);
    if (err)
        return err;
    while (!r.no_memory && sxs_chunk_reader_next(&reader, SXS_TRACED_LAST, take_record, &r))
        ;
    note_problems(out, &reader);
    sxs_chunk_reader_close(&reader);
    if (!r.no_memory && r.n) {
        qsort(r.parts, r.n, sizeof(*r.parts), by_thread);
        join_calls(&r);
        nest_calls(&r);
    }
    if (!r.no_memory)
        make_calls(&r, out);
    out->texts = r.texts;
    free(r.parts);
    if (!r.no_memory)
        return 0;
    sxs_traced_free(out);
    snprintf(why, why_size, "no memory");
    return ENOMEM;
}

void sxs_traced_free(struct sxs_traced_data *d)
{
    free(d->calls);
    free(d->texts);
    sxs_lines_free(d->problems, d->n_problems);
    memset(d, 0, sizeof(*d));
}
