/* SPDX-License-Identifier: MIT */
#include "thread_names/thread_names.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/fork.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/session_state.h"
#include "base/text/utf8.h"
#include "session/write/chunks_write.h"
#include "session/write/session_write.h"

#define BUCKETS   256u
#define MAX_BYTES (UINT64_C(64) << 20) /* file size; further names are counted as lost */

/* A living thread of a runtime, or one that has a name and has not started. */
struct named {
    struct named           *next;
    uint64_t                id;      /* ThreadID */
    unsigned                runtime; /* its number: the address of a runtime object may be reused */
    uint32_t                tid;     /* 0: it has not started */
    struct sxs_thread_name *record;  /* in the file: its latest name; NULL: none */
    char                    name[SXS_THREAD_NAME_MAX + 1];
};

static struct {
    pthread_mutex_t   lock; /* guards all; a leaf lock, and no runtime is called inside */
    struct named     *buckets[BUCKETS];
    struct sxs_chunks chunks;
    enum { NO_SESSION, NO_FILE_YET, HAS_FILE, FAILED } file;
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER};
SXS_FORK_RESETS(pool.lock);
SXS_SESSION_KEEPS(pool);

static void child_forked(void)
{
    if (pool.file == HAS_FILE)
        sxs_chunks_forget(&pool.chunks);
    pool.file = FAILED;
}

/* ---- the file -------------------------------------------------------------------------------- */

static struct sxs_thread_names_header *header(void)
{
    return (struct sxs_thread_names_header *)(void *)pool.chunks.map;
}

/* Made with the first name. */
static void make_file_locked(void)
{
    static struct sxs_fork_part part = {.child = child_forked};
    SXS_SESSION_KEEPS(part);
    const struct sxs_folder *folder = sxs_session_folder(NULL);
    int                      err;
    if (!folder)
        return;
    sxs_fork_register(&part);
    memset(&pool.chunks, 0, sizeof(pool.chunks));
    pool.chunks.ahead = 1;
    err = sxs_chunks_create(&pool.chunks, folder, SXS_THREAD_NAMES_FILE, MAX_BYTES,
                            offsetof(struct sxs_thread_names_header, n_chunks));
    pool.file = err ? FAILED : HAS_FILE;
    if (err) {
        sxs_warn("whole names of threads are not recorded: %s", strerror(err));
        return;
    }
    header()->version = SXS_THREAD_NAMES_VERSION;
    header()->max_chunks = pool.chunks.max_chunks;
    memcpy(header()->magic, SXS_THREAD_NAMES_MAGIC, sizeof(header()->magic));
}

static void write_locked(struct named *v)
{
    size_t                  size = strlen(v->name), bytes = sizeof(struct sxs_thread_name) + size;
    struct sxs_thread_name *r;
    if (!v->tid || (!size && !v->record))
        return;
    if (pool.file == NO_FILE_YET)
        make_file_locked();
    if (pool.file != HAS_FILE)
        return;
    r = sxs_chunks_reserve(&pool.chunks, bytes);
    if (!r && sxs_chunks_make_room(&pool.chunks) == 0)
        r = sxs_chunks_reserve(&pool.chunks, bytes);
    if (!r) {
        atomic_fetch_add(&header()->lost, 1);
        return;
    }
    r->time_ns = sxs_now_ns(CLOCK_MONOTONIC);
    r->tid = v->tid;
    r->runtime = (uint16_t)v->runtime;
    r->size = (uint16_t)size;
    memcpy(r->text, v->name, size);
    sxs_chunks_commit(r, SXS_THREAD_NAMES_NAME);
    v->record = r;
}

void sxs_thread_names_begin(void)
{
    pthread_mutex_lock(&pool.lock);
    if (pool.file == NO_SESSION && sxs_session_folder(NULL)) {
        pool.file = NO_FILE_YET;
        for (size_t i = 0; i < BUCKETS; i++)
            for (struct named *v = pool.buckets[i]; v; v = v->next)
                write_locked(v);
    }
    pthread_mutex_unlock(&pool.lock);
}

void sxs_thread_names_close(void)
{
    pthread_mutex_lock(&pool.lock);
    for (size_t i = 0; i < BUCKETS; i++)
        for (struct named *v = pool.buckets[i]; v; v = v->next)
            v->record = NULL;
    if (pool.file == HAS_FILE)
        sxs_chunks_finish(&pool.chunks);
    pool.file = NO_SESSION;
    pthread_mutex_unlock(&pool.lock);
}

/* ---- threads --------------------------------------------------------------------------------- */

/* Returns the link to the thread's entry, or to the end of its list. */
static struct named **find_locked(unsigned runtime, uint64_t id)
{
    struct named **at = &pool.buckets[(sxs_hash_id(id + runtime) >> 32) % BUCKETS];
    while (*at && ((*at)->runtime != runtime || (*at)->id != id))
        at = &(*at)->next;
    return at;
}

/* Returns the entry of a thread, made if there is none; NULL when there is no memory. */
static struct named *make_locked(unsigned runtime, uint64_t id)
{
    struct named **at = find_locked(runtime, id);
    if (!*at && (*at = calloc(1, sizeof(**at)))) {
        (*at)->runtime = runtime;
        (*at)->id = id;
    }
    return *at;
}

void sxs_thread_names_started(unsigned runtime, uint64_t id, uint32_t tid)
{
    pthread_mutex_lock(&pool.lock);
    struct named *v = make_locked(runtime, id);
    if (v && v->tid != tid) {
        v->tid = tid;
        write_locked(v);
    }
    pthread_mutex_unlock(&pool.lock);
}

void sxs_thread_names_named(unsigned runtime, uint64_t id, const uint16_t *units, size_t n)
{
    char text[SXS_THREAD_NAME_MAX + 1];
    int  cut;
    if (!units)
        n = 0;
    while (n && !units[n - 1]) /* some runtimes count the terminating zero */
        n--;
    sxs_utf8_line(units, n, ' ', text, sizeof(text), &cut);
    pthread_mutex_lock(&pool.lock);
    struct named *v = make_locked(runtime, id);
    if (v) {
        memcpy(v->name, text, sizeof(text));
        write_locked(v);
    }
    pthread_mutex_unlock(&pool.lock);
}

/* Takes the entry at @link out of its list, and frees it. */
static void end_locked(struct named **link, uint64_t now)
{
    struct named *v = *link;
    *link = v->next;
    if (v->record)
        atomic_store(&v->record->ended_ns, now);
    free(v);
}

void sxs_thread_names_ended(unsigned runtime, uint64_t id)
{
    pthread_mutex_lock(&pool.lock);
    struct named **at = find_locked(runtime, id);
    if (*at)
        end_locked(at, sxs_now_ns(CLOCK_MONOTONIC));
    pthread_mutex_unlock(&pool.lock);
}

void sxs_thread_names_runtime_ended(unsigned runtime)
{
    uint64_t now = sxs_now_ns(CLOCK_MONOTONIC);
    pthread_mutex_lock(&pool.lock);
    for (size_t i = 0; i < BUCKETS; i++) {
        struct named **at = &pool.buckets[i];
        while (*at) {
            if ((*at)->runtime == runtime)
                end_locked(at, now);
            else
                at = &(*at)->next;
        }
    }
    pthread_mutex_unlock(&pool.lock);
}

uint32_t sxs_thread_names_get(unsigned runtime, uint64_t id, char *name, size_t size)
{
    uint32_t tid = 0;
    name[0] = '\0';
    pthread_mutex_lock(&pool.lock);
    const struct named *v = *find_locked(runtime, id);
    if (v) {
        tid = v->tid;
        snprintf(name, size, "%s", v->name);
    }
    pthread_mutex_unlock(&pool.lock);
    return tid;
}
