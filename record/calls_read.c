/* SPDX-License-Identifier: MIT */
#include "record/calls_read.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct reader {
    struct sxs_calls *c;
    unsigned char    *cells;
    uint64_t          n_cells;  /* in memory */
    uint32_t         *index_of; /* by cell: of a function or path, SXS_CALLS_NONE */
    size_t            cap_paths, cap_fns, cap_threads;
    uint64_t          bad_refs, circles;
    uint64_t          last_tick;
};

static void problem(struct sxs_calls *c, const char *text)
{
    char **more = realloc(c->problems, (c->n_problems + 1) * sizeof(*more));
    if (!more)
        return;
    c->problems = more;
    more[c->n_problems] = strdup(text);
    c->n_problems += more[c->n_problems] != NULL;
}

static void *room(void *list, size_t n, size_t *cap, size_t item)
{
    if (n < *cap)
        return list;
    size_t more = *cap ? *cap * 2 : 256;
    void  *at = reallocarray(list, more, item);
    if (at)
        *cap = more;
    return at;
}

/* @n cells at @ref, or NULL. The first cell of a chunk is not for the taking. */
static const void *cells_at(struct reader *r, sxs_calls_ref ref, uint64_t n)
{
    if (!ref || ref % SXS_CALLS_CELLS == 0 || ref + n > r->n_cells ||
        ref % SXS_CALLS_CELLS + n > SXS_CALLS_CELLS) {
        r->bad_refs++;
        return NULL;
    }
    return r->cells + (uint64_t)ref * SXS_CALLS_CELL;
}

static uint64_t ns_of(const struct sxs_calls *c, uint64_t ticks)
{
    double ns = (double)ticks * c->ns_per_tick;
    return ns < 9e18 ? (uint64_t)ns : 0;
}

static uint64_t since_start(const struct sxs_calls *c, uint64_t tick)
{
    return tick > c->head.started_tick ? ns_of(c, tick - c->head.started_tick) : 0;
}

/* ---- functions -------------------------------------------------------------------------------- */

static int read_function(struct reader *r, sxs_calls_ref ref, const struct sxs_calls_function *f)
{
    struct sxs_calls *c = r->c;
    size_t   size = offsetof(struct sxs_calls_function, text) + f->name_size + f->file_size;
    void    *list = room(c->fns, c->n_fns, &r->cap_fns, sizeof(*c->fns));
    const char *text = (const char *)f + offsetof(struct sxs_calls_function, text);
    if (!list)
        return ENOMEM;
    c->fns = list;
    if (!cells_at(r, ref, (size + SXS_CALLS_CELL - 1) / SXS_CALLS_CELL))
        return 0;
    struct sxs_calls_fn *fn = &c->fns[c->n_fns];
    memset(fn, 0, sizeof(*fn));
    fn->name = strndup(text, f->name_size);
    fn->file = strndup(text + f->name_size, f->file_size);
    fn->runtime = f->runtime;
    fn->token = f->token;
    fn->id = f->function;
    fn->compiled = atomic_load(&f->compiled);
    fn->backed_off = atomic_load(&f->backed_off) != 0;
    fn->first_ns = since_start(c, f->first_tick);
    r->index_of[ref] = (uint32_t)c->n_fns++;
    return fn->name && fn->file ? 0 : ENOMEM;
}

static int read_functions(struct reader *r)
{
    sxs_calls_ref ref = atomic_load(&r->c->head.functions);
    int           err = 0;
    while (ref && !err) {
        const struct sxs_calls_function *f = cells_at(r, ref, 1);
        if (!f)
            break;
        if (r->index_of[ref] != SXS_CALLS_NONE) {
            r->circles++;
            break;
        }
        err = read_function(r, ref, f);
        ref = f->next;
    }
    return err;
}

/* ---- paths ------------------------------------------------------------------------------------ */

static void add_histogram(struct reader *r, sxs_calls_ref ref, struct sxs_calls_fn *fn)
{
    const struct sxs_calls_histogram *h = cells_at(r, ref, sizeof(*h) / SXS_CALLS_CELL);
    if (!h || r->index_of[ref] != SXS_CALLS_NONE)
        return; /* one for all paths of a thread that end in this function */
    r->index_of[ref] = 0;
    if (!fn->buckets)
        fn->buckets = calloc(SXS_CALLS_BUCKETS, sizeof(*fn->buckets));
    for (unsigned i = 0; fn->buckets && i < SXS_CALLS_OCTAVES; i++) {
        const struct sxs_calls_octave *o = h->octaves[i] ? cells_at(r, h->octaves[i], 1) : NULL;
        for (unsigned k = 0; o && k < 8; k++)
            fn->buckets[i * 8 + k] += o->n[k];
    }
    if (h->max) {
        uint64_t min = ns_of(r->c, h->min), max = ns_of(r->c, h->max);
        fn->min_ns = fn->max_ns && fn->min_ns < min ? fn->min_ns : min;
        fn->max_ns = fn->max_ns > max ? fn->max_ns : max;
    }
}

static int add_path(struct reader *r, sxs_calls_ref ref, const struct sxs_calls_node *n,
                    uint32_t parent, uint32_t thread)
{
    struct sxs_calls *c = r->c;
    void             *list = room(c->paths, c->n_paths, &r->cap_paths, sizeof(*c->paths));
    uint32_t          fn = SXS_CALLS_NONE;
    uint64_t          ticks = n->ticks;
    if (!list)
        return ENOMEM;
    c->paths = list;
    if (parent != SXS_CALLS_NONE && n->function && n->function < r->n_cells)
        fn = r->index_of[n->function];
    if (fn >= c->n_fns)
        fn = SXS_CALLS_NONE;
    struct sxs_calls_path *p = &c->paths[c->n_paths];
    *p = (struct sxs_calls_path){.parent = parent, .fn = fn, .thread = thread, .calls = n->calls,
                                 .unwound = n->unwound, .active = n->entered || n->active};
    if (n->entered && r->last_tick > n->entered)
        ticks += r->last_tick - n->entered;
    p->total_ns = ns_of(c, ticks);
    p->self_ns = ns_of(c, n->self);
    if (fn != SXS_CALLS_NONE && n->histogram)
        add_histogram(r, n->histogram, &c->fns[fn]);
    r->index_of[ref] = (uint32_t)c->n_paths++;
    return 0;
}

/* Depth first, by the references in the file: no stack of our own that a deep tree could overflow. */
static int read_tree(struct reader *r, sxs_calls_ref root, uint32_t thread)
{
    struct { sxs_calls_ref ref; uint32_t parent; } *todo = NULL, *more;
    size_t n = 0, cap = 0;
    int    err = 0;
    more = room(NULL, 0, &cap, sizeof(*todo));
    if (!more)
        return ENOMEM;
    todo = more;
    todo[n].ref = root;
    todo[n++].parent = SXS_CALLS_NONE;
    while (n && !err) {
        sxs_calls_ref                ref = todo[--n].ref;
        uint32_t                     parent = todo[n].parent;
        const struct sxs_calls_node *node = cells_at(r, ref, 1);
        if (!node)
            continue;
        if (r->index_of[ref] != SXS_CALLS_NONE) {
            r->circles++;
            continue;
        }
        err = add_path(r, ref, node, parent, thread);
        for (int i = 0; i < 2 && !err; i++) {
            sxs_calls_ref next = i ? node->child : node->sibling;
            if (!next || (!i && parent == SXS_CALLS_NONE))
                continue;
            more = room(todo, n, &cap, sizeof(*todo));
            if (!more) {
                err = ENOMEM;
                break;
            }
            todo = more;
            todo[n].ref = next;
            todo[n++].parent = i ? (uint32_t)r->c->n_paths - 1 : parent;
        }
    }
    free(todo);
    return err;
}

/* ---- single calls ----------------------------------------------------------------------------- */

static int add_moment(struct reader *r, struct sxs_calls_thr *t, const struct sxs_calls_event *e)
{
    uint32_t path = e->node < r->n_cells ? r->index_of[e->node] : SXS_CALLS_NONE;
    uint64_t ns = since_start(r->c, e->tick);
    if (path >= r->c->n_paths || path <= t->root || r->c->paths[path].fn == SXS_CALLS_NONE ||
        e->kind < SXS_CALLS_ENTER || e->kind > SXS_CALLS_UNWOUND) {
        r->bad_refs++;
        return 0;
    }
    void *list = room(t->moments, t->n_moments, &t->cap_moments, sizeof(*t->moments));
    if (!list)
        return ENOMEM;
    t->moments = list;
    if (t->n_moments && ns < t->moments[t->n_moments - 1].ns)
        ns = t->moments[t->n_moments - 1].ns;
    t->moments[t->n_moments++] = (struct sxs_calls_moment){ns, path, e->kind};
    return 0;
}

/* After the thread's tree, whose paths they name. */
static int read_events(struct reader *r, struct sxs_calls_thr *t, sxs_calls_ref ref)
{
    int err = 0;
    while (ref && !err) {
        const struct sxs_calls_block *b = cells_at(r, ref, SXS_CALLS_BLOCK_CELLS);
        if (!b)
            break;
        if (r->index_of[ref] != SXS_CALLS_NONE) {
            r->circles++;
            break;
        }
        r->index_of[ref] = 0;
        const struct sxs_calls_event *e = (const void *)(b + 1);
        for (size_t i = 0; i < SXS_CALLS_BLOCK_EVENTS && e[i].tick && !err; i++)
            err = add_moment(r, t, &e[i]);
        ref = b->next;
    }
    return err;
}

/* ---- threads ---------------------------------------------------------------------------------- */

static int read_thread(struct reader *r, const struct sxs_calls_thread *t)
{
    struct sxs_calls *c = r->c;
    void             *list = room(c->threads, c->n_threads, &r->cap_threads, sizeof(*c->threads));
    if (!list)
        return ENOMEM;
    c->threads = list;
    struct sxs_calls_thr *out = &c->threads[c->n_threads];
    memset(out, 0, sizeof(*out));
    out->tid = t->tid;
    out->root = (uint32_t)c->n_paths;
    memcpy(out->name, t->name, sizeof(out->name) - 1);
    out->ended = atomic_load(&t->ended) != 0;
    out->started_ns = since_start(c, t->started_tick);
    out->ended_ns = out->ended ? since_start(c, atomic_load(&t->ended_tick)) : c->duration_ns;
    out->runtimes = atomic_load(&t->runtimes);
    out->nodes_lost = atomic_load(&t->nodes_lost);
    out->too_deep = atomic_load(&t->too_deep);
    out->unmatched = atomic_load(&t->unmatched);
    out->unwound = atomic_load(&t->unwound);
    out->stale = atomic_load(&t->stale);
    out->events_lost = atomic_load(&t->events_lost);
    int err = read_tree(r, t->root, (uint32_t)c->n_threads);
    if (!err)
        err = read_events(r, out, t->events);
    if (out->root < c->n_paths)
        c->n_threads++;
    else
        free(out->moments);
    return err;
}

static int read_threads(struct reader *r)
{
    sxs_calls_ref ref = atomic_load(&r->c->head.threads);
    int           err = 0;
    while (ref && !err) {
        const struct sxs_calls_thread *t = cells_at(r, ref, sizeof(*t) / SXS_CALLS_CELL);
        if (!t)
            break;
        if (r->index_of[ref] != SXS_CALLS_NONE) {
            r->circles++;
            break;
        }
        r->index_of[ref] = 0;
        err = read_thread(r, t);
        ref = t->next;
    }
    return err;
}

/* ---- sums ------------------------------------------------------------------------------------- */

static void take_from_parent(struct sxs_calls *c, const struct sxs_calls_path *p)
{
    struct sxs_calls_path *parent = &c->paths[p->parent];
    parent->self_ns -= p->total_ns < parent->self_ns ? p->total_ns : parent->self_ns;
}

/* Paths come depth first: @above counts each function on the way from the root to the last one. */
static int add_up(struct sxs_calls *c)
{
    uint32_t *above = calloc(c->n_fns + 1, sizeof(*above)), last = SXS_CALLS_NONE;
    if (!above)
        return ENOMEM;
    for (uint32_t i = 0; i < c->n_paths; last = i++) {
        const struct sxs_calls_path *p = &c->paths[i];
        struct sxs_calls_fn         *fn = p->fn == SXS_CALLS_NONE ? NULL : &c->fns[p->fn];
        for (; last != p->parent && last != SXS_CALLS_NONE; last = c->paths[last].parent)
            if (c->paths[last].fn != SXS_CALLS_NONE)
                above[c->paths[last].fn]--;
        if (!fn)
            continue;
        fn->calls += p->calls;
        fn->unwound += p->unwound;
        fn->self_ns += p->self_ns;
        if (c->head.mode != SXS_CALLS_TREE || !above[p->fn])
            fn->total_ns += p->total_ns;
        above[p->fn]++;
    }
    free(above);
    return 0;
}

static int sum(struct sxs_calls *c)
{
    bool tree = c->head.mode == SXS_CALLS_TREE;
    for (size_t i = 0; tree && i < c->n_paths; i++)
        c->paths[i].self_ns = c->paths[i].fn == SXS_CALLS_NONE ? 0 : c->paths[i].total_ns;
    for (size_t i = 0; tree && i < c->n_paths; i++)
        if (c->paths[i].parent != SXS_CALLS_NONE)
            take_from_parent(c, &c->paths[i]);
    return add_up(c);
}

uint64_t sxs_calls_bucket_ns(const struct sxs_calls *c, unsigned i)
{
    unsigned octave = i / 8;
    if (octave < 3) /* all of what is shorter than 8 ticks */
        return i;
    return ns_of(c, (UINT64_C(1) << octave) + (((uint64_t)(i % 8) * 2 + 1) << (octave - 3)) / 2);
}

uint64_t sxs_calls_quantile(const struct sxs_calls *c, const struct sxs_calls_fn *fn, double q)
{
    uint64_t all = 0, seen = 0, ns;
    for (unsigned i = 0; fn->buckets && i < SXS_CALLS_BUCKETS; i++)
        all += fn->buckets[i];
    if (!all)
        return 0;
    for (unsigned i = 0; i < SXS_CALLS_BUCKETS; i++) {
        seen += fn->buckets[i];
        if ((double)seen < q * (double)all || !seen)
            continue;
        ns = sxs_calls_bucket_ns(c, i);
        if (ns < fn->min_ns)
            return fn->min_ns;
        return ns > fn->max_ns ? fn->max_ns : ns;
    }
    return fn->max_ns;
}

/* ---- the file --------------------------------------------------------------------------------- */

static size_t read_at(int fd, void *to, size_t size, uint64_t at)
{
    size_t got = 0;
    while (got < size) {
        ssize_t n = pread(fd, (char *)to + got, size - got, (off_t)(at + got));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        got += (size_t)n;
    }
    return got;
}

static int check_head(const struct sxs_calls_header *h, size_t got, char *why, size_t size)
{
    if (got < sizeof(*h))
        snprintf(why, size, "cut: %zu bytes, the header alone has %u", got, SXS_CALLS_HEADER);
    else if (memcmp(h->magic, SXS_CALLS_MAGIC, sizeof(h->magic)) != 0)
        snprintf(why, size, "not a calls file: it does not begin with \"" SXS_CALLS_MAGIC "\"");
    else if (h->version != SXS_CALLS_VERSION)
        snprintf(why, size, "format version %u, this command reads version %u", h->version,
                 SXS_CALLS_VERSION);
    else if (h->chunk_size != SXS_CALLS_CHUNK)
        snprintf(why, size, "chunks of %u bytes, version %u has %u", h->chunk_size,
                 SXS_CALLS_VERSION, SXS_CALLS_CHUNK);
    else
        return 0;
    return EINVAL;
}

static void set_clock(struct reader *r)
{
    struct sxs_calls *c = r->c;
    uint64_t          ns = atomic_load(&c->head.seen_ns), tick = atomic_load(&c->head.seen_tick);
    c->ns_per_tick = 1;
    if (ns > c->head.started_ns && tick > c->head.started_tick) {
        c->duration_ns = ns - c->head.started_ns;
        c->ns_per_tick = (double)c->duration_ns / (double)(tick - c->head.started_tick);
    } else {
        problem(c, "its clock was never set: times are in ticks");
    }
    r->last_tick = tick;
}

static int load_cells(struct reader *r, int fd, uint64_t size)
{
    struct sxs_calls *c = r->c;
    uint64_t          want = (uint64_t)atomic_load(&c->head.n_taken) * SXS_CALLS_CHUNK;
    uint64_t          body = size > SXS_CALLS_HEADER ? size - SXS_CALLS_HEADER : 0;
    if (want > body) {
        char line[128];
        snprintf(line, sizeof(line), "cut: %llu of %llu bytes of calls are missing",
                 (unsigned long long)(want - body), (unsigned long long)want);
        problem(c, line);
        want = body;
    }
    r->cells = malloc(want + SXS_CALLS_CELL);
    if (!r->cells)
        return ENOMEM;
    r->n_cells = read_at(fd, r->cells, want, SXS_CALLS_HEADER) / SXS_CALLS_CELL;
    r->index_of = malloc((r->n_cells + 1) * sizeof(*r->index_of));
    if (!r->index_of)
        return ENOMEM;
    memset(r->index_of, 0xff, (r->n_cells + 1) * sizeof(*r->index_of));
    return 0;
}

static int read_all(struct reader *r, int fd, uint64_t size)
{
    char line[128];
    int  err = load_cells(r, fd, size);
    set_clock(r);
    if (!err)
        err = read_functions(r);
    if (!err)
        err = read_threads(r);
    if (r->bad_refs || r->circles) {
        snprintf(line, sizeof(line), "garbled: %llu references lead nowhere, %llu in a circle",
                 (unsigned long long)r->bad_refs, (unsigned long long)r->circles);
        problem(r->c, line);
    }
    if (!err)
        err = sum(r->c);
    free(r->cells);
    free(r->index_of);
    return err;
}

int sxs_calls_read(int folder_fd, struct sxs_calls **out, char *why, size_t why_size)
{
    struct reader r = {0};
    struct stat   st;
    int           err = EINVAL;
    *out = NULL;
    why[0] = '\0';
    /* O_NONBLOCK: opening a pipe put in its place must not wait for a writer */
    int fd = openat(folder_fd, SXS_CALLS_FILE, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) {
        err = errno;
        snprintf(why, why_size, "%s",
                 err == ELOOP ? "is a symbolic link: not followed" : strerror(err));
        return err;
    }
    r.c = calloc(1, sizeof(*r.c));
    if (!r.c) {
        err = ENOMEM;
    } else if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        snprintf(why, why_size, "not a regular file");
    } else {
        err = check_head(&r.c->head, read_at(fd, &r.c->head, sizeof(r.c->head), 0), why, why_size);
        if (!err)
            err = read_all(&r, fd, (uint64_t)st.st_size);
    }
    close(fd);
    if (err == ENOMEM)
        snprintf(why, why_size, "out of memory");
    if (err) {
        sxs_calls_free(r.c);
        return err;
    }
    r.c->head.command[sizeof(r.c->head.command) - 1] = '\0';
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
    for (size_t i = 0; i < c->n_problems; i++)
        free(c->problems[i]);
    for (size_t i = 0; i < c->n_threads; i++)
        free(c->threads[i].moments);
    free(c->fns);
    free(c->paths);
    free(c->threads);
    free(c->problems);
    free(c);
}
