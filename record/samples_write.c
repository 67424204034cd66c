/* SPDX-License-Identifier: MIT */
#include "record/samples_write.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define AHEAD 4 /* chunks kept ready: 1 MiB, about a second of 64-frame samples at 1,000 Hz on 2 CPUs */

struct sxs_samples_writer {
    int                        fd;
    unsigned char             *map; /* address space for max_chunks; backed for n_chunks of them */
    uint32_t                   max_chunks;
    int                        full; /* the disk said so once */
    _Atomic int                off;
    _Atomic uint32_t           current; /* chunk that records go into */
    struct sxs_samples_header *header;
};

static struct sxs_samples_writer the_writer = {.fd = -1};

SXS_SIGSAFE static struct sxs_chunk_header *chunk_at(struct sxs_samples_writer *w, uint32_t i)
{
    return (struct sxs_chunk_header *)(w->map + SXS_HEADER_SIZE + (size_t)i * SXS_CHUNK_SIZE);
}

/* Blocks are reserved before they are touched: a full disk must not become a SIGBUS. */
static int grow(struct sxs_samples_writer *w)
{
    uint32_t                 n = atomic_load(&w->header->n_chunks);
    struct sxs_chunk_header *chunk = chunk_at(w, n);
    int                      err;
    if (n >= w->max_chunks)
        return -EFBIG;
    err = posix_fallocate(w->fd, SXS_HEADER_SIZE + (off_t)n * SXS_CHUNK_SIZE, SXS_CHUNK_SIZE);
    if (err)
        return -err;
    chunk->magic = SXS_CHUNK_MAGIC;
    chunk->index = n;
    atomic_store(&chunk->used, (uint32_t)sizeof(*chunk));
    atomic_store_explicit(&w->header->n_chunks, n + 1, memory_order_release);
    return 0;
}

struct sxs_samples_writer *sxs_samples_create(int folder_fd, uint64_t max_bytes)
{
    struct sxs_samples_writer *w = &the_writer;
    size_t                     size;
    int                        err;
    if (max_bytes < 8 * (uint64_t)SXS_CHUNK_SIZE)
        max_bytes = 8 * (uint64_t)SXS_CHUNK_SIZE;
    w->max_chunks = (uint32_t)(max_bytes / SXS_CHUNK_SIZE);
    size = SXS_HEADER_SIZE + (size_t)w->max_chunks * SXS_CHUNK_SIZE;
    w->fd = openat(folder_fd, SXS_SAMPLES_FILE, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                   0600);
    if (w->fd < 0)
        return NULL;
    err = posix_fallocate(w->fd, 0, SXS_HEADER_SIZE);
    if (err)
        goto failed;
    w->map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, w->fd, 0);
    if (w->map == MAP_FAILED) {
        err = errno;
        goto failed;
    }
    w->header = (struct sxs_samples_header *)w->map;
    w->header->version = SXS_SAMPLES_VERSION;
    w->header->chunk_size = SXS_CHUNK_SIZE;
    w->header->max_chunks = w->max_chunks;
    w->header->pid = (uint32_t)getpid();
    for (int i = 0; i < AHEAD && !err; i++)
        err = -grow(w);
    if (err) {
        munmap(w->map, size);
        goto failed;
    }
    memcpy(w->header->magic, SXS_SAMPLES_MAGIC, sizeof(w->header->magic));
    return w;
failed:
    close(w->fd);
    unlinkat(folder_fd, SXS_SAMPLES_FILE, 0);
    w->fd = -1;
    errno = err;
    return NULL;
}

SXS_SIGSAFE struct sxs_samples_header *sxs_samples_header(struct sxs_samples_writer *w)
{
    return w->header;
}

SXS_SIGSAFE void *sxs_samples_reserve(struct sxs_samples_writer *w, size_t size)
{
    uint32_t at = atomic_load_explicit(&w->current, memory_order_acquire);
    size = (size + 7) & ~(size_t)7;
    if (size > SXS_CHUNK_SIZE / 2 || atomic_load_explicit(&w->off, memory_order_relaxed))
        return NULL;
    for (;;) {
        struct sxs_chunk_header *chunk = chunk_at(w, at);
        uint32_t                 off = atomic_load_explicit(&chunk->used, memory_order_relaxed);
        if (off + size <= SXS_CHUNK_SIZE) {
            off = atomic_fetch_add_explicit(&chunk->used, (uint32_t)size, memory_order_relaxed);
            if (off + size <= SXS_CHUNK_SIZE) {
                struct sxs_record *record = (struct sxs_record *)((unsigned char *)chunk + off);
                record->size = (uint32_t)size;
                record->mark = SXS_RECORD_MARK;
                return record;
            }
        }
        if (at + 1 >= atomic_load_explicit(&w->header->n_chunks, memory_order_acquire))
            return NULL;
        /* Whoever moves it on first; the others find it moved. */
        uint32_t seen = at;
        atomic_compare_exchange_strong(&w->current, &seen, at + 1);
        at = atomic_load_explicit(&w->current, memory_order_acquire);
    }
}

SXS_SIGSAFE void sxs_samples_commit(void *record, enum sxs_record_type type)
{
    struct sxs_record *r = record;
    atomic_store_explicit(&r->type, (uint16_t)type, memory_order_release);
}

int sxs_samples_make_room(struct sxs_samples_writer *w)
{
    int err = 0;
    if (w->full || atomic_load(&w->off))
        return 0;
    while (!err && atomic_load(&w->header->n_chunks) - atomic_load(&w->current) < AHEAD + 1)
        err = grow(w);
    w->full = err != 0;
    return err;
}

void sxs_samples_forget(struct sxs_samples_writer *w)
{
    atomic_store(&w->off, 1);
}
