/* SPDX-License-Identifier: MIT */
#include "session/read/calls_read_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "session/read/file_read.h"

#define MAX_BYTES ((uint64_t)4 << 30) /* of calls; the library writes less */
#define CLOCKS_DIFFER_NS 1000000u            /* between ticks and CLOCK_MONOTONIC */

const void *sxs_calls_cells_at(struct sxs_calls_reader *r, sxs_calls_ref ref, uint64_t n)
{
    if (!ref || ref % SXS_CALLS_CELLS == 0 || ref + n > r->n_cells ||
        ref % SXS_CALLS_CELLS + n > SXS_CALLS_CELLS) {
        r->bad_refs++;
        return NULL;
    }
    return r->cells + (uint64_t)ref * SXS_CALLS_CELL;
}

const void *sxs_calls_take_cells(struct sxs_calls_reader *r, sxs_calls_ref ref, uint64_t n)
{
    const void *at = sxs_calls_cells_at(r, ref, n);
    for (uint64_t i = 0; at && i < n; i++)
        if (sxs_calls_index(r, ref + (uint32_t)i) != SXS_CALLS_NONE) {
            r->circles++;
            return NULL;
        }
    for (uint64_t i = 0; at && i < n; i++)
        sxs_calls_set_index(r, ref + (uint32_t)i, SXS_CALLS_TAKEN);
    return at;
}

uint64_t sxs_calls_ns(const struct sxs_calls *c, uint64_t ticks)
{
    double ns = (double)ticks * c->ns_per_tick;
    return ns < 9e18 ? (uint64_t)ns : 0;
}

uint64_t sxs_calls_since_start(const struct sxs_calls *c, uint64_t tick)
{
    return tick > c->head.started_tick ? sxs_calls_ns(c, tick - c->head.started_tick) : 0;
}

/* ---- functions ----------------------------------------------------------------------------- */

static int read_function(struct sxs_calls_reader *r, sxs_calls_ref ref,
                         const struct sxs_calls_function *f)
{
    struct sxs_calls *c = r->c;
    bool              is_old = c->head.version == SXS_CALLS_VERSION_2;
    size_t            text_at = is_old ? offsetof(struct sxs_calls_function, tail_left)
                                       : offsetof(struct sxs_calls_function, text);
    size_t            size = text_at + f->name_size + f->file_size;
    void    *list = sxs_list_room(c->fns, c->n_fns, &r->cap_fns, sizeof(*c->fns));
    const char       *text = (const char *)f + text_at;
    if (!list)
        return ENOMEM;
    c->fns = list;
    if (size > SXS_CALLS_CELL &&
        !sxs_calls_take_cells(r, ref + 1, (size - 1) / SXS_CALLS_CELL))
        return 0;
    struct sxs_calls_read_function *fn = &c->fns[c->n_fns];
    memset(fn, 0, sizeof(*fn));
    fn->name = strndup(text, f->name_size);
    fn->file = strndup(text + f->name_size, f->file_size);
    fn->runtime = f->runtime;
    fn->token = f->token;
    fn->id = f->function;
    fn->compiled = atomic_load(&f->compiled);
    fn->backed_off = atomic_load(&f->backed_off) != 0;
    fn->inlining = atomic_load(&f->inlining);
    if (!is_old) {
        fn->tail_left = atomic_load(&f->tail_left);
        fn->tail_called = atomic_load(&f->tail_called);
        fn->tail_late = atomic_load(&f->tail_late);
        fn->tail_looped = atomic_load(&f->tail_looped);
    }
    fn->first_ns = sxs_calls_since_start(c, f->first_tick);
    sxs_calls_set_index(r, ref, (uint32_t)c->n_fns++);
    return fn->name && fn->file ? 0 : ENOMEM;
}

static int read_functions(struct sxs_calls_reader *r)
{
    sxs_calls_ref ref = atomic_load(&r->c->head.functions);
    int           err = 0;
    while (ref && !err) {
        const struct sxs_calls_function *f = sxs_calls_take_cells(r, ref, 1);
        if (!f)
            break;
        err = read_function(r, ref, f);
        ref = f->next;
    }
    return err;
}

/* ---- threads ------------------------------------------------------------------------------- */

static int read_thread(struct sxs_calls_reader *r, const struct sxs_calls_thread *t)
{
    struct sxs_calls *c = r->c;
    void *list = sxs_list_room(c->threads, c->n_threads, &r->cap_threads, sizeof(*c->threads));
    if (!list)
        return ENOMEM;
    c->threads = list;
    struct sxs_calls_read_thread *out = &c->threads[c->n_threads];
    memset(out, 0, sizeof(*out));
    out->tid = t->tid;
    out->root = (uint32_t)c->n_paths;
    memcpy(out->kernel, t->name, sizeof(out->kernel) - 1);
    out->ended = atomic_load(&t->ended) != 0;
    out->started_ns = sxs_calls_since_start(c, t->started_tick);
    out->ended_ns =
        out->ended ? sxs_calls_since_start(c, atomic_load(&t->ended_tick)) : c->duration_ns;
    out->runtimes = atomic_load(&t->runtimes);
    out->nodes_lost = atomic_load(&t->nodes_lost);
    out->too_deep = atomic_load(&t->too_deep);
    out->unmatched = atomic_load(&t->unmatched);
    out->unwound = atomic_load(&t->unwound);
    out->stale = atomic_load(&t->stale);
    out->events_lost = atomic_load(&t->events_lost);
    out->values_lost = atomic_load(&t->values_lost);
    int err = sxs_calls_read_tree(r, t->root, (uint32_t)c->n_threads);
    if (!err && t->pending_of)
        sxs_calls_add_pending(r, t);
    if (!err)
        err = sxs_calls_read_events(r, out, t->events);
    if (out->root < c->n_paths)
        c->n_threads++;
    else
        sxs_calls_free_events(out);
    return err;
}

static int read_threads(struct sxs_calls_reader *r)
{
    sxs_calls_ref ref = atomic_load(&r->c->head.threads);
    int           err = 0;
    while (ref && !err) {
        const struct sxs_calls_thread *t = sxs_calls_take_cells(r, ref, sizeof(*t) / SXS_CALLS_CELL);
        if (!t)
            break;
        err = read_thread(r, t);
        ref = t->next;
    }
    return err;
}

/* ---- the file ------------------------------------------------------------------------------ */

static int check_head(const struct sxs_calls_header *h, size_t got, char *why, size_t size)
{
    if (got < sizeof(*h))
        snprintf(why, size, "cut: %zu bytes, the header alone has %u", got, SXS_CALLS_HEADER);
    else if (memcmp(h->magic, SXS_CALLS_MAGIC, sizeof(h->magic)) != 0)
        snprintf(why, size, "not a calls file: it does not begin with \"" SXS_CALLS_MAGIC "\"");
    else if (h->version != SXS_CALLS_VERSION && h->version != SXS_CALLS_VERSION_2)
        snprintf(why, size, "format version %u, this command reads version %u", h->version,
                 SXS_CALLS_VERSION);
    else if (h->chunk_size != SXS_CALLS_CHUNK)
        snprintf(why, size, "chunks of %u bytes, version %u has %u", h->chunk_size,
                 SXS_CALLS_VERSION, SXS_CALLS_CHUNK);
    else
        return 0;
    return EINVAL;
}

static void set_clock(struct sxs_calls_reader *r)
{
    struct sxs_calls *c = r->c;
    uint64_t          ns = atomic_load(&c->head.seen_ns), tick = atomic_load(&c->head.seen_tick);
    c->ns_per_tick = 1;
    if (ns > c->head.started_ns && tick > c->head.started_tick) {
        c->duration_ns = ns - c->head.started_ns;
        c->ns_per_tick = (double)c->duration_ns / (double)(tick - c->head.started_tick);
    } else {
        sxs_lines_add(&c->problems, &c->n_problems,
                      "its clock was never set: times are in ticks");
    }
    r->last_tick = tick;
}

static int load_cells(struct sxs_calls_reader *r, int fd, uint64_t size)
{
    struct sxs_calls *c = r->c;
    uint32_t          taken = atomic_load(&c->head.n_taken), all = atomic_load(&c->head.n_chunks);
    uint64_t          want = (uint64_t)(taken < all ? taken : all) * SXS_CALLS_CHUNK;
    uint64_t          body = size > SXS_CALLS_HEADER ? size - SXS_CALLS_HEADER : 0;
    if (want > body) {
        sxs_lines_add(&c->problems, &c->n_problems, "cut: %llu of %llu bytes of calls are missing",
                      (unsigned long long)(want - body), (unsigned long long)want);
        want = body;
    }
    if (want > MAX_BYTES) {
        sxs_lines_add(&c->problems, &c->n_problems,
                      "the file is larger than its format allows: %llu bytes of calls are left out",
                      (unsigned long long)(want - MAX_BYTES));
        want = MAX_BYTES;
    }
    /* Zeroed memory that is not written to takes no memory, and holes are not written. */
    r->cells = calloc(want / SXS_CALLS_CELL + 1, SXS_CALLS_CELL);
    if (!r->cells)
        return ENOMEM;
    r->n_cells = sxs_file_read_data(fd, r->cells, want, SXS_CALLS_HEADER) / SXS_CALLS_CELL;
    r->marks = calloc(r->n_cells + 1, sizeof(*r->marks));
    return r->marks ? 0 : ENOMEM;
}

static int read_all(struct sxs_calls_reader *r, int fd, uint64_t size)
{
    int err = load_cells(r, fd, size);
    set_clock(r);
    if (!err)
        err = read_functions(r);
    if (!err)
        err = sxs_calls_read_notes(r);
    if (!err)
        err = read_threads(r);
    if (r->bad_refs || r->circles)
        sxs_lines_add(&r->c->problems, &r->c->n_problems,
                      "garbled: %llu references lead nowhere, %llu in a circle",
                      (unsigned long long)r->bad_refs, (unsigned long long)r->circles);
    if (!err)
        err = sxs_calls_sum(r->c);
    free(r->cells);
    free(r->marks);
    return err;
}

/* Ticks are too inexact to tell whether the kernel's name was read before managed code gave one. So
 * only a name that was read at the thread's end counts as a later one. Returns 0 or ENOMEM. */
static int name_threads(struct sxs_calls *c, const struct sxs_files *folder)
{
    int err = sxs_thread_names_read(folder, &c->names);
    for (size_t i = 0; i < c->n_threads; i++) {
        struct sxs_calls_read_thread *t = &c->threads[i];
        const struct sxs_thread_known known = {
            .tid = t->tid,
            .kernel = t->kernel,
            .kernel_ns = t->ended ? UINT64_MAX : 0,
            .from_ns = c->head.started_ns + t->started_ns,
            .to_ns = t->ended ? c->head.started_ns + t->ended_ns + CLOCKS_DIFFER_NS : 0,
        };
        t->name = sxs_thread_name_pick(&c->names, c->head.pid, &known);
    }
    return err;
}

int sxs_calls_read(const struct sxs_files *folder, struct sxs_calls **out, char *why,
                   size_t why_size)
{
    struct sxs_calls_reader r = {0};
    uint64_t                size;
    int                     err = ENOMEM;
    int                     fd = sxs_file_open(folder, SXS_CALLS_FILE, &size, why, why_size);
    *out = NULL;
    if (fd < 0)
        return -fd;
    r.c = calloc(1, sizeof(*r.c));
    if (r.c)
        err = check_head(&r.c->head, sxs_file_read_at(fd, &r.c->head, sizeof(r.c->head), 0), why,
                         why_size);
    if (!err)
        err = read_all(&r, fd, size);
    close(fd);
    if (err == ENOMEM)
        snprintf(why, why_size, "out of memory");
    if (err) {
        sxs_calls_free(r.c);
        return err;
    }
    r.c->head.command[sizeof(r.c->head.command) - 1] = '\0';
    err = name_threads(r.c, folder);
    if (err) {
        snprintf(why, why_size, "out of memory");
        sxs_calls_free(r.c);
        return err;
    }
    *out = r.c;
    return 0;
}

void sxs_calls_free(struct sxs_calls *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < c->n_fns; i++) {
        free(c->fns[i].name);
        free(c->fns[i].file);
        free(c->fns[i].buckets);
    }
    for (size_t i = 0; i < c->n_threads; i++)
        sxs_calls_free_events(&c->threads[i]);
    sxs_calls_free_notes(c);
    sxs_thread_names_free(&c->names);
    free(c->fns);
    free(c->paths);
    free(c->threads);
    sxs_lines_free(c->problems, c->n_problems);
    free(c);
}
