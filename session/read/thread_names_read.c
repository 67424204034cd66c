/* SPDX-License-Identifier: MIT */
#include "session/read/thread_names_read.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "session/read/chunks_read.h"
#include "session/read/file_read.h"
#include "session/read/samples_read.h"

#define KERNEL_BYTES 15u /* of a name, that Linux keeps */
#define MAX_TEXTS    (UINT64_C(1) << 30)
/* A thread begins and ends in the file "samples" when the sampler notices it, and that is a little after its
 * first and before its last event. On a busy machine it may be long after the first: then born_ns tells. */
#define LIFE_SLACK_NS UINT64_C(100000000)

const struct sxs_chunk_file sxs_thread_names_kind = {
    .name = SXS_THREAD_NAMES_FILE,
    .magic = SXS_THREAD_NAMES_MAGIC,
    .version = SXS_THREAD_NAMES_VERSION,
    .head_size = sizeof(struct sxs_thread_names_header),
    .n_chunks_at = offsetof(struct sxs_thread_names_header, n_chunks),
    .max_chunks_at = offsetof(struct sxs_thread_names_header, max_chunks),
};

struct thread_names_reading {
    struct sxs_thread_names *names;
    bool                     no_memory;
};

/* Makes room for a row and a text of @size bytes with its zero. Returns 0 or -1. */
static int make_room(struct sxs_thread_names *n, size_t size)
{
    void *rows = sxs_list_room(n->rows, n->n, &n->cap, sizeof(*n->rows));
    if (!rows)
        return -1;
    n->rows = rows;
    if (n->used + size > n->room) {
        size_t room = n->room * 2 + size + 1024;
        char  *more = realloc(n->texts, room);
        if (!more)
            return -1;
        n->texts = more;
        n->room = room;
    }
    return 0;
}

static bool take_record(const struct sxs_record *record, uint16_t type, void *out)
{
    struct thread_names_reading  *r = out;
    struct sxs_thread_names      *n = r->names;
    const struct sxs_thread_name *v = (const void *)record;
    (void)type;
    if (record->size < sizeof(*v) || v->size > SXS_THREAD_NAME_MAX ||
        record->size < sizeof(*v) + v->size)
        return false;
    if (n->used > MAX_TEXTS || make_room(n, v->size + 1u) != 0) {
        r->no_memory = true;
        return true;
    }
    n->rows[n->n++] = (struct sxs_thread_names_row){
        v->time_ns, atomic_load_explicit(&v->ended_ns, memory_order_relaxed), v->tid, n->used};
    memcpy(n->texts + n->used, v->text, v->size);
    n->texts[n->used + v->size] = '\0';
    n->used += v->size + 1u;
    return true;
}

static int by_thread(const void *a, const void *b)
{
    const struct sxs_thread_names_row *x = a, *y = b;
    if (x->tid != y->tid)
        return x->tid < y->tid ? -1 : 1;
    return (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
}

int sxs_thread_names_read(const struct sxs_files *folder, struct sxs_thread_names *names)
{
    struct sxs_thread_names_header head;
    struct sxs_chunk_reader        reader;
    struct thread_names_reading    r = {names, false};
    char                           why[256];
    if (sxs_chunk_reader_open(&reader, folder, &sxs_thread_names_kind, &head, why, sizeof(why)) !=
        0)
        return 0;
    while (!r.no_memory && sxs_chunk_reader_next(&reader, SXS_THREAD_NAMES_LAST, take_record, &r))
        ;
    sxs_chunk_reader_close(&reader);
    names->pid = head.pid;
    names->lost += atomic_load(&head.lost);
    if (names->n)
        qsort(names->rows, names->n, sizeof(*names->rows), by_thread);
    return r.no_memory ? ENOMEM : 0;
}

/* ---- names in the kernel ---- */

static int by_life(const void *a, const void *b)
{
    const struct sxs_thread_names_kernel *x = a, *y = b;
    if (x->tid != y->tid)
        return x->tid < y->tid ? -1 : 1;
    return (x->started_ns > y->started_ns) - (x->started_ns < y->started_ns);
}

static int by_record(const void *a, const void *b)
{
    const struct sxs_thread_names_kernel *x = a, *y = b;
    int                                   life = by_life(a, b);
    return life ? life : (x->order > y->order) - (x->order < y->order);
}

/* Returns a place for one more row, after the last one, or NULL. */
static struct sxs_thread_names_kernel *make_kernel(struct sxs_thread_names *n)
{
    void *kernel = sxs_list_room(n->kernel, n->n_kernel, &n->cap_kernel, sizeof(*n->kernel));
    if (!kernel)
        return NULL;
    n->kernel = kernel;
    return &n->kernel[n->n_kernel];
}

static bool take_kernel_name(const struct sxs_record *record, uint16_t type, void *out)
{
    struct thread_names_reading *r = out;
    struct sxs_thread_names     *n = r->names;
    struct sxs_samples_record    v;
    if (type != SXS_RECORD_THREAD)
        return true;
    if (!sxs_samples_take(record, type, &v))
        return false;
    struct sxs_thread_names_kernel *k = make_kernel(n);
    if (!k) {
        r->no_memory = true;
        return true;
    }
    *k = (struct sxs_thread_names_kernel){.tid = v.thread->tid,
                                          .started_ns = v.thread->started_ns,
                                          .ended_ns = v.thread->ended_ns,
                                          .name_ns = sxs_thread_name_read_ns(v.thread),
                                          .born_ns = sxs_thread_born_ns(v.thread),
                                          .order = n->n_kernel++};
    memcpy(k->name, v.thread->name, sizeof(k->name) - 1);
    return true;
}

/* Makes one row of all records of a thread: the last name, and when the thread ended. */
static void join_kernel(struct sxs_thread_names *n)
{
    size_t kept = 0;
    if (n->n_kernel)
        qsort(n->kernel, n->n_kernel, sizeof(*n->kernel), by_record);
    for (size_t i = 0; i < n->n_kernel; i++) {
        struct sxs_thread_names_kernel *into = kept ? &n->kernel[kept - 1] : NULL, k = n->kernel[i];
        if (!into || by_life(into, &k) != 0) {
            n->kernel[kept++] = k;
            continue;
        }
        if (k.ended_ns > into->ended_ns)
            into->ended_ns = k.ended_ns;
        if (k.name[0]) {
            memcpy(into->name, k.name, sizeof(into->name));
            into->name_ns = k.name_ns;
        }
    }
    n->n_kernel = kept;
    for (size_t i = 0; i < kept; i++)
        n->kernel[i].order = i;
}

int sxs_thread_names_read_all(const struct sxs_files *folder, struct sxs_thread_names *names)
{
    struct sxs_samples_header   head;
    struct sxs_chunk_reader     reader;
    struct thread_names_reading r = {names, false};
    char                        why[256];
    int                         err = sxs_thread_names_read(folder, names);
    if (err ||
        sxs_chunk_reader_open(&reader, folder, &sxs_samples_kind, &head, why, sizeof(why)) != 0)
        return err;
    while (!r.no_memory && sxs_chunk_reader_next(&reader, SXS_RECORD_POOL, take_kernel_name, &r))
        ;
    sxs_chunk_reader_close(&reader);
    join_kernel(names);
    names->pid = names->pid ? names->pid : head.pid;
    return r.no_memory ? ENOMEM : 0;
}

/* Returns the thread that has @tid at a time; NULL: not known. */
static const struct sxs_thread_names_kernel *living_at(const struct sxs_thread_names *names,
                                                       uint32_t tid, uint64_t time_ns)
{
    const struct sxs_thread_names_kernel key = {.tid = tid, .started_ns = time_ns + LIFE_SLACK_NS};
    size_t                               lo = 0, hi = names->n_kernel;
    while (lo < hi) {
        size_t middle = lo + (hi - lo) / 2;
        if (by_life(&names->kernel[middle], &key) <= 0)
            lo = middle + 1;
        else
            hi = middle;
    }
    const struct sxs_thread_names_kernel *k = lo ? &names->kernel[lo - 1] : NULL;
    if (k && k->tid == tid && (!k->ended_ns || k->ended_ns + LIFE_SLACK_NS >= time_ns))
        return k;
    k = lo < names->n_kernel ? &names->kernel[lo] : NULL; /* found later */
    return k && k->tid == tid && k->born_ns && k->born_ns <= time_ns ? k : NULL;
}

long sxs_thread_names_follow(struct sxs_chunk_follower *file, uint64_t max_bytes,
                             struct sxs_thread_names *names)
{
    struct thread_names_reading r = {names, false};
    size_t                      before = names->n;
    sxs_chunk_follow_look(file, max_bytes);
    while (!r.no_memory && sxs_chunk_follow_next(file, SXS_THREAD_NAMES_LAST, take_record, &r))
        ;
    if (names->n != before)
        qsort(names->rows, names->n, sizeof(*names->rows), by_thread);
    return r.no_memory ? -ENOMEM : (long)(names->n - before);
}

/* Returns the index of the first row after those of the thread @tid until a time. */
static size_t first_behind(const struct sxs_thread_names *names, uint32_t tid, uint64_t time_ns)
{
    const struct sxs_thread_names_row key = {.tid = tid, .time_ns = time_ns};
    size_t                            lo = 0, hi = names->n;
    while (lo < hi) {
        size_t middle = lo + (hi - lo) / 2;
        if (by_thread(&names->rows[middle], &key) <= 0)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo;
}

const char *sxs_thread_names_of(const struct sxs_thread_names *names, uint32_t tid,
                                uint64_t from_ns, uint64_t to_ns, uint64_t *since_ns)
{
    size_t lo = first_behind(names, tid, to_ns ? to_ns : UINT64_MAX);
    if (since_ns)
        *since_ns = 0;
    if (!lo || names->rows[lo - 1].tid != tid ||
        (names->rows[lo - 1].ended_ns && names->rows[lo - 1].ended_ns < from_ns))
        return "";
    if (since_ns)
        *since_ns = names->rows[lo - 1].time_ns;
    return names->texts + names->rows[lo - 1].name;
}

const char *sxs_thread_name_pick(const struct sxs_thread_names *names, uint32_t pid,
                                 const struct sxs_thread_known *known)
{
    uint64_t    since = 0;
    const char *given =
        names ? sxs_thread_names_of(names, known->tid, known->from_ns, known->to_ns, &since) : "";
    bool   is_first = known->tid && known->tid == pid;
    size_t len = strlen(given);
    if (given[0] &&
        (is_first || !known->kernel[0] || known->kernel_ns <= since ||
         strncmp(given, known->kernel, len < KERNEL_BYTES ? len + 1 : KERNEL_BYTES) == 0))
        return given;
    if (is_first)
        return "main thread";
    return known->kernel[0] ? known->kernel : "thread";
}

const char *sxs_thread_names_at(const struct sxs_thread_names *names, uint32_t pid, uint32_t tid,
                                uint64_t time_ns)
{
    const struct sxs_thread_names_kernel *k = living_at(names, tid, time_ns);
    const struct sxs_thread_known         known = {
                .tid = tid, .kernel = "", .from_ns = time_ns, .to_ns = time_ns};
    if (k) {
        const struct sxs_thread_known all = {.tid = tid,
                                             .kernel = k->name,
                                             .kernel_ns = k->name_ns,
                                             .from_ns = k->started_ns,
                                             .to_ns = k->ended_ns};
        return sxs_thread_name_pick(names, pid, &all);
    }
    size_t      next = first_behind(names, tid, time_ns);
    const char *given = sxs_thread_names_of(names, tid, time_ns, time_ns, NULL);
    if (!given[0] && next < names->n && names->rows[next].tid == tid)
        given = names->texts + names->rows[next].name;
    return given[0] ? given : sxs_thread_name_pick(NULL, pid, &known);
}

enum {
    LEAST_THREADS = 4096
}; /* records of threads that are kept before those of one thread are joined */

int sxs_thread_names_join(struct sxs_thread_names *into, const struct sxs_thread_names *from)
{
    for (size_t i = 0; i < from->n; i++) {
        const char *text = from->texts + from->rows[i].name;
        size_t      size = strlen(text) + 1;
        if (make_room(into, size) != 0)
            return ENOMEM;
        into->rows[into->n] = from->rows[i];
        into->rows[into->n++].name = into->used;
        memcpy(into->texts + into->used, text, size);
        into->used += size;
    }
    for (size_t i = 0; i < from->n_kernel; i++) {
        struct sxs_thread_names_kernel *k = make_kernel(into);
        if (!k)
            return ENOMEM;
        *k = from->kernel[i];
        k->order = into->n_kernel++;
    }
    into->lost += from->lost;
    if (into->n_kernel > 2 * into->n_joined_kernel + LEAST_THREADS) {
        join_kernel(into);
        into->n_joined_kernel = into->n_kernel;
    }
    return 0;
}

void sxs_thread_names_joined(struct sxs_thread_names *names)
{
    join_kernel(names);
    if (names->n)
        qsort(names->rows, names->n, sizeof(*names->rows), by_thread);
}

void sxs_thread_names_free(struct sxs_thread_names *names)
{
    free(names->rows);
    free(names->texts);
    free(names->kernel);
    memset(names, 0, sizeof(*names));
}
