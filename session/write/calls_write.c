/* SPDX-License-Identifier: MIT */
#include "session/write/calls_write.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "base/session_state.h"
#include "base/fork.h"
#include "base/idle.h"
#include "base/log.h"
#include "session/write/file_write.h"

#define MORE_AHEAD 512u /* more chunks for traced calls: 32 MiB, what they may need in 10 ms */
#define AHEAD 96u /* chunks kept ready, 6 MiB: as many threads may start within a few ms */

static struct {
    struct sxs_file          file;
    _Atomic int              full;   /* 1: the file could not grow, or the process ends */
    struct sxs_idle          idle;   /* the thread that makes room waits in it */
    uint32_t                 seen;   /* n_taken at the last sxs_calls_file_wait() */
    _Atomic int              off;    /* 1: in a forked child; no cells are allocated */
    uint32_t                 ahead;  /* chunks to keep ready in addition to AHEAD */
    pthread_mutex_t          length; /* guards the file's length; held only while it changes */
    struct sxs_calls_header *header;
    unsigned char           *cells; /* the first chunk */
} file = {.length = PTHREAD_MUTEX_INITIALIZER};
SXS_FORK_RESETS(file.length);
SXS_SESSION_KEEPS(file);

/* Add one chunk to the file, under file.length. Returns 0 or -errno. */
static int grow_file(void)
{
    struct sxs_calls_header *h = file.header;
    uint32_t                 n = atomic_load(&h->n_chunks);
    struct sxs_calls_chunk  *chunk;
    int                      err;
    if (n >= h->max_chunks)
        return -EFBIG;
    err = sxs_file_reserve(&file.file, SXS_CALLS_HEADER + (uint64_t)n * SXS_CALLS_CHUNK,
                           SXS_CALLS_CHUNK);
    if (err)
        return err;
    chunk = (struct sxs_calls_chunk *)(file.cells + (size_t)n * SXS_CALLS_CHUNK);
    chunk->magic = SXS_CALLS_CHUNK_MAGIC;
    chunk->index = n;
    atomic_store_explicit(&h->n_chunks, n + 1, memory_order_release);
    return 0;
}

void sxs_calls_file_expect(uint64_t bytes)
{
    uint64_t chunks = bytes / SXS_CALLS_CHUNK + 1;
    file.ahead = chunks < MORE_AHEAD ? (uint32_t)chunks : MORE_AHEAD;
}

/* Add one chunk unless @ahead chunks are ready. Returns 0 when a chunk was added; 1 when none was
 * needed, or when the file cannot grow any more; or a negative errno. */
static int grow_to(uint32_t ahead)
{
    struct sxs_calls_header *h = file.header;
    int                      err = 1;
    pthread_mutex_lock(&file.length);
    if (!atomic_load(&file.full) && !atomic_load(&file.off) &&
        atomic_load(&h->n_chunks) < atomic_load(&h->n_taken) + ahead) {
        err = grow_file();
        atomic_store(&file.full, err != 0);
    }
    pthread_mutex_unlock(&file.length);
    return err;
}

int sxs_calls_file_make_room(void)
{
    int err;
    do
        err = grow_to(AHEAD + file.ahead);
    while (!err);
    return err < 0 ? err : 0;
}

void sxs_calls_file_wait(void)
{
    uint32_t taken = atomic_load(&file.header->n_taken);
    int      busy = taken != file.seen;
    file.seen = taken;
    sxs_idle_wait(&file.idle, busy);
}

/* Called after chunk number @taken was taken. When a quarter of the chunks that are kept ready has
 * been used, wake the thread that makes room. Keeps errno. */
static void ask_for_room(uint32_t taken)
{
    uint32_t ready = atomic_load_explicit(&file.header->n_chunks, memory_order_relaxed);
    int      saved = errno;
    if (ready - taken < (AHEAD + file.ahead) / 4 * 3 &&
        !atomic_load_explicit(&file.full, memory_order_relaxed))
        sxs_idle_wake(&file.idle);
    errno = saved;
}

/* Called at exit while other threads may still be counting. Marks every chunk as taken, so that no
 * thread starts writing to a chunk that is about to be cut off the file. */
void sxs_calls_file_trim(void)
{
    struct sxs_calls_header *h = file.header;
    uint32_t                 taken, all;
    int                      err;
    pthread_mutex_lock(&file.length);
    all = atomic_load(&h->n_chunks);
    taken = atomic_load(&h->n_taken);
    while (!atomic_compare_exchange_weak(&h->n_taken, &taken, all))
        ;
    if (taken < all) {
        atomic_store(&h->n_chunks, taken);
        err = sxs_file_shorten(&file.file, SXS_CALLS_HEADER + (uint64_t)taken * SXS_CALLS_CHUNK);
        if (err)
            sxs_warn("the calls file stays longer than it need be: %s", strerror(-err));
    }
    atomic_store(&file.full, 1);
    pthread_mutex_unlock(&file.length);
}

/* Fill in the header, except for the magic, and make the first chunks. Returns 0 or -errno. */
static int make_header(uint32_t max_chunks)
{
    struct sxs_calls_header *h = file.header;
    h->version = SXS_CALLS_VERSION;
    h->chunk_size = SXS_CALLS_CHUNK;
    h->pid = (uint32_t)getpid();
    h->max_chunks = max_chunks;
    return sxs_calls_file_make_room();
}

struct sxs_calls_header *sxs_calls_file_create(const struct sxs_folder *folder,
                                               uint64_t                 max_bytes)
{
    uint32_t       max = (uint32_t)(sxs_file_may_map(max_bytes) / SXS_CALLS_CHUNK);
    unsigned char *map = NULL;
    size_t         size;
    int            err;
    if (max < 2 * AHEAD)
        max = 2 * AHEAD;
    size = SXS_CALLS_HEADER + (size_t)max * SXS_CALLS_CHUNK;
    err = sxs_file_create(&file.file, folder, SXS_CALLS_FILE, SXS_CALLS_HEADER, size, &map);
    if (err) {
        errno = -err;
        return NULL;
    }
    file.header = (struct sxs_calls_header *)map;
    file.cells = map + SXS_CALLS_HEADER;
    err = make_header(max);
    if (err) {
        sxs_file_undo(&file.file, map, size);
        errno = -err;
        return NULL;
    }
    memcpy(file.header->magic, SXS_CALLS_MAGIC, sizeof(file.header->magic));
    return file.header;
}

/* ---- free cells of ended threads ----------------------------------------------------------- */

#define REST_MIN 16u  /* cells; fewer are not worth keeping */
#define RESTS    256u /* limit of ranges that are kept */

/* Ranges of free cells that ended threads left. */
static struct {
    pthread_mutex_t lock; /* guards the fields below; nothing is called while it is held */
    unsigned        n;
    struct {
        sxs_calls_ref next, end;
    } all[RESTS];
} rests = {.lock = PTHREAD_MUTEX_INITIALIZER};
SXS_FORK_RESETS(rests.lock);
SXS_SESSION_KEEPS(rests);

void sxs_calls_cells_end(struct sxs_calls_arena *arena)
{
    pthread_mutex_lock(&rests.lock);
    if (arena->end - arena->next >= REST_MIN && rests.n < RESTS) {
        rests.all[rests.n].next = arena->next;
        rests.all[rests.n++].end = arena->end;
    }
    pthread_mutex_unlock(&rests.lock);
    arena->next = arena->end = 0;
}

/* Give @arena the free cells of an ended thread, if at least @n lie together. Returns 1 if so, else
 * 0. The free cells that @arena had before are given up. */
static int take_rest(struct sxs_calls_arena *arena, uint32_t n)
{
    int found = 0;
    if (atomic_load_explicit(&file.off, memory_order_relaxed))
        return 0;
    pthread_mutex_lock(&rests.lock);
    for (unsigned i = rests.n; i-- > 0 && !found;)
        if (rests.all[i].end - rests.all[i].next >= n) {
            arena->next = rests.all[i].next;
            arena->end = rests.all[i].end;
            rests.all[i] = rests.all[--rests.n];
            found = 1;
        }
    pthread_mutex_unlock(&rests.lock);
    return found;
}

/* No chunk is ready because the thread that makes room was not scheduled in time. Add one here, so
 * that no call path is dropped. Returns 0 when chunks may be ready now, else -1. Keeps errno. */
static int need_one_now(void)
{
    int saved = errno, err;
    if (atomic_load(&file.full) || atomic_load(&file.off))
        return -1;
    err = grow_to(1);
    errno = saved;
    return err < 0 ? -1 : 0;
}

/* Take a new chunk for @arena. The free cells that @arena had before are given up, because adjacent
 * cells must lie in one chunk. Returns 0, or -1 when there is none. */
static int take_chunk(struct sxs_calls_arena *arena)
{
    struct sxs_calls_header *h = file.header;
    uint32_t                 taken = atomic_load_explicit(&h->n_taken, memory_order_relaxed);
    if (atomic_load_explicit(&file.off, memory_order_relaxed))
        return -1;
    do {
        while (taken >= atomic_load_explicit(&h->n_chunks, memory_order_acquire)) {
            if (need_one_now() != 0)
                return -1;
            taken = atomic_load_explicit(&h->n_taken, memory_order_relaxed);
        }
    } while (!atomic_compare_exchange_weak(&h->n_taken, &taken, taken + 1));
    ask_for_room(taken);
    ((struct sxs_calls_chunk *)(file.cells + (size_t)taken * SXS_CALLS_CHUNK))->owner =
        arena->owner;
    arena->next = taken * SXS_CALLS_CELLS + 1;
    arena->end = (taken + 1) * SXS_CALLS_CELLS;
    return 0;
}

sxs_calls_ref sxs_calls_cells(struct sxs_calls_arena *arena, uint32_t n)
{
    sxs_calls_ref first;
    if (n >= SXS_CALLS_CELLS)
        return 0;
    if (arena->end - arena->next < n && !take_rest(arena, n) && take_chunk(arena))
        return 0;
    first = arena->next;
    arena->next += n;
    return first;
}

void *sxs_calls_cell(sxs_calls_ref ref)
{
    return file.cells + (size_t)ref * SXS_CALLS_CELL;
}

void sxs_calls_file_forget(void)
{
    atomic_store(&file.off, 1);
}
