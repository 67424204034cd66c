/* SPDX-License-Identifier: MIT */
#include "session/write/chunks_write.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define AHEAD 4 /* chunks kept ready: 1 MiB, about a second of 64-frame samples at 1,000 Hz on 2 CPUs */
#define MOST_AHEAD 64 /* chunks kept ready after bursts: 16 MiB */

SXS_SIGSAFE static struct sxs_chunk_header *chunk_at(struct sxs_chunks *c, uint32_t i)
{
    return (struct sxs_chunk_header *)(c->map + SXS_HEADER_SIZE + (size_t)i * SXS_CHUNK_SIZE);
}

SXS_SIGSAFE static uint32_t ahead_of(struct sxs_chunks *c)
{
    uint32_t ahead = atomic_load_explicit(&c->ahead, memory_order_relaxed);
    return ahead ? ahead : AHEAD;
}

/* Add one chunk to the file. Returns 0 or -errno. */
static int grow_file(struct sxs_chunks *c)
{
    uint32_t                 n = atomic_load(c->n_chunks);
    struct sxs_chunk_header *chunk = chunk_at(c, n);
    int                      err;
    if (n >= c->max_chunks)
        return -EFBIG;
    err = sxs_file_reserve(&c->file, SXS_HEADER_SIZE + (uint64_t)n * SXS_CHUNK_SIZE, SXS_CHUNK_SIZE);
    if (err)
        return err;
    chunk->magic = SXS_CHUNK_MAGIC;
    chunk->index = n;
    atomic_store(&chunk->used, (uint32_t)sizeof(*chunk));
    atomic_store_explicit(c->n_chunks, n + 1, memory_order_release);
    return 0;
}

int sxs_chunks_create(struct sxs_chunks *c, const struct sxs_folder *folder, const char *name,
                      uint64_t max_bytes, size_t n_chunks_at)
{
    struct sxs_chunks_head *head;
    size_t                  size;
    int                     err;
    max_bytes = sxs_file_may_map(max_bytes);
    if (max_bytes < AHEAD * (uint64_t)SXS_CHUNK_SIZE)
        max_bytes = AHEAD * (uint64_t)SXS_CHUNK_SIZE;
    c->max_chunks = (uint32_t)(max_bytes / SXS_CHUNK_SIZE);
    size = SXS_HEADER_SIZE + (size_t)c->max_chunks * SXS_CHUNK_SIZE;
    err = sxs_file_create(&c->file, folder, name, SXS_HEADER_SIZE, size, &c->map);
    if (err)
        return -err;
    c->map_size = size;
    c->n_chunks = (_Atomic uint32_t *)(void *)(c->map + n_chunks_at);
    head = (struct sxs_chunks_head *)c->map;
    head->chunk_size = SXS_CHUNK_SIZE;
    head->pid = (uint32_t)getpid();
    for (uint32_t i = 0; i < AHEAD && i < ahead_of(c) && !err; i++)
        err = -grow_file(c);
    if (!err)
        return 0;
    sxs_file_undo(&c->file, c->map, size);
    return err;
}

/* Called when chunk @at is begun. */
SXS_SIGSAFE static void ask_for_room(struct sxs_chunks *c, uint32_t at)
{
    uint32_t ready = atomic_load_explicit(c->n_chunks, memory_order_relaxed) - at - 1;
    if (c->low && ready < (ahead_of(c) + 1) * 3 / 4 &&
        !atomic_load_explicit(&c->full, memory_order_relaxed))
        c->low();
}

SXS_SIGSAFE void *sxs_chunks_reserve(struct sxs_chunks *c, size_t size)
{
    uint32_t at = atomic_load_explicit(&c->current, memory_order_acquire);
    size = (size + 7) & ~(size_t)7;
    if (size > SXS_CHUNK_SIZE / 2 || atomic_load_explicit(&c->off, memory_order_relaxed))
        return NULL;
    for (;;) {
        struct sxs_chunk_header *chunk = chunk_at(c, at);
        uint32_t                 off = atomic_load_explicit(&chunk->used, memory_order_relaxed);
        if (off + size <= SXS_CHUNK_SIZE) {
            off = atomic_fetch_add_explicit(&chunk->used, (uint32_t)size, memory_order_relaxed);
            if (off + size <= SXS_CHUNK_SIZE) {
                struct sxs_record *record = (struct sxs_record *)((unsigned char *)chunk + off);
                __atomic_store_n(&record->size, (uint32_t)size, __ATOMIC_RELAXED); /* a reader may look */
                record->mark = SXS_RECORD_MARK;
                return record;
            }
        }
        if (at + 1 >= atomic_load_explicit(c->n_chunks, memory_order_acquire))
            return NULL;
        /* Advance to the next chunk, unless another thread has done so already. */
        uint32_t seen = at;
        if (atomic_compare_exchange_strong(&c->current, &seen, at + 1))
            ask_for_room(c, at + 1);
        at = atomic_load_explicit(&c->current, memory_order_acquire);
    }
}

SXS_SIGSAFE void sxs_chunks_commit(void *record, uint16_t type)
{
    struct sxs_record *r = record;
    atomic_store_explicit(&r->type, type, memory_order_release);
}

void sxs_chunks_keep_ready(struct sxs_chunks *c, uint32_t n)
{
    uint32_t now = ahead_of(c);
    while (now < n && !atomic_compare_exchange_weak(&c->ahead, &now, n))
        ;
}

int sxs_chunks_make_room(struct sxs_chunks *c)
{
    uint32_t used = atomic_load(&c->current) - c->seen;
    int      err = 0;
    if (atomic_load(&c->full) || atomic_load(&c->off))
        return 0;
    c->seen += used;
    if (used)
        sxs_chunks_keep_ready(c, used < MOST_AHEAD / 4 ? used * 4 : MOST_AHEAD);
    while (!err && atomic_load(c->n_chunks) - atomic_load(&c->current) < ahead_of(c) + 1)
        err = grow_file(c);
    atomic_store(&c->full, err != 0);
    return err;
}

int sxs_chunks_abandon(struct sxs_chunks *c)
{
    size_t   kept;
    uint32_t n = atomic_load(c->n_chunks), used = atomic_load(&c->current) + 1;
    if (atomic_exchange(&c->off, 1)) /* the file belongs to the parent process */
        return 0;
    kept = SXS_HEADER_SIZE + (size_t)n * SXS_CHUNK_SIZE;
    atomic_store(c->n_chunks, used < n ? used : n);
    if (mmap(c->map, kept, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED)
        return -errno; /* the map stays, so the file keeps its length */
    munmap(c->map + kept, c->map_size - kept);
    if (used < n)
        sxs_file_shorten(&c->file, SXS_HEADER_SIZE + (uint64_t)used * SXS_CHUNK_SIZE);
    sxs_file_close(&c->file);
    return 0;
}

void sxs_chunks_forget(struct sxs_chunks *c)
{
    atomic_store(&c->off, 1);
}

void sxs_chunks_finish(struct sxs_chunks *c)
{
    uint32_t n = atomic_load(&c->current) + 1;
    atomic_store(&c->off, 1);
    if (n < atomic_load(c->n_chunks)) {
        atomic_store(c->n_chunks, n);
        sxs_file_shorten(&c->file, SXS_HEADER_SIZE + (uint64_t)n * SXS_CHUNK_SIZE);
    }
    sxs_file_close(&c->file);
    munmap(c->map, c->map_size);
}
