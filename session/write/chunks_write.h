/* SPDX-License-Identifier: MIT */
/**
 * chunks_write.h - the writer of a file of chunks (session/format/chunks.h): writes records into
 * the mapped file.
 *
 * sxs_chunks_reserve() and sxs_chunks_commit() are async-signal-safe and lock-free; any number of
 * threads and signal handlers may write at once. A thread of the library calls
 * sxs_chunks_make_room(), which keeps chunks ready for them.
 */
#ifndef SXS_SESSION_WRITE_CHUNKS_WRITE_H
#define SXS_SESSION_WRITE_CHUNKS_WRITE_H

#include "base/base.h"
#include "session/format/chunks.h"
#include "session/write/file_write.h"

/** One file; lives as long as the session. Zeroed before sxs_chunks_create(). */
struct sxs_chunks {
    struct sxs_file   file;
    unsigned char    *map; /* address space for max_chunks; *n_chunks of them may be touched */
    size_t            map_size; /* bytes of address space */
    uint32_t          max_chunks;
    /* Number of chunks to keep ready; 0: the default. Grows when much is written between two calls of
     * sxs_chunks_make_room(). */
    _Atomic uint32_t  ahead;
    uint32_t          seen;     /* the current chunk at the last call of sxs_chunks_make_room() */
    /* NULL, or wakes the thread that calls sxs_chunks_make_room(). Called by threads and signal handlers
     * that begin a chunk when less than three quarters of the chunks to be kept ready are left. */
    void (*low)(void);
    _Atomic int       full;     /* 1: the file could not grow and is not grown any more */
    _Atomic int       off;      /* 1: in a forked child; nothing is written */
    _Atomic uint32_t  current;  /* index of the chunk that records go into */
    _Atomic uint32_t *n_chunks; /* chunks in the file; lies in the file's header */
};

/**
 * sxs_chunks_create - create and map the file @name in @folder, with its first chunks ready.
 * @folder, @name: borrowed for the life of @c.
 * @max_bytes: limit of the file's size; reduced under RLIMIT_AS, but never below the chunks that
 *   are kept ready.
 * @n_chunks_at: offset of the number of chunks in the file's header.
 * Returns 0, and the caller must then store the header's magic; or a positive errno value (no room,
 * no folder), and then nothing is left behind. Not signal-safe.
 */
int sxs_chunks_create(struct sxs_chunks *c, const struct sxs_folder *folder, const char *name,
                      uint64_t max_bytes, size_t n_chunks_at);

/**
 * sxs_chunks_reserve - reserve room for a record.
 * @size: bytes, rounded up to a multiple of 8; at most half a chunk.
 * Returns the record with size and mark filled in and zeros elsewhere, or NULL when there is no
 * room; the caller then counts the dropped record. Any thread; signal-safe.
 */
SXS_SIGSAFE void *sxs_chunks_reserve(struct sxs_chunks *c, size_t size);

/** sxs_chunks_commit - make a filled record visible to readers by storing its @type.
 *  @record: from sxs_chunks_reserve(). Any thread; signal-safe. */
SXS_SIGSAFE void sxs_chunks_commit(void *record, uint16_t type);

/** sxs_chunks_keep_ready - keep at least @n chunks ready from the next call of sxs_chunks_make_room()
 *  on, because bursts are expected. Any thread. */
void sxs_chunks_keep_ready(struct sxs_chunks *c, uint32_t n);

/** sxs_chunks_make_room - grow the file until enough chunks are ready: after a burst, four times what
 *  was used since the last call, but at most 16 MiB unless sxs_chunks_keep_ready() asked for more.
 *  Returns 0, or -errno when the disk is full or the file has reached its limit; the chunks that
 *  exist are still used, and later calls return 0 and do nothing. Called every few milliseconds, by
 *  one thread at a time. */
int sxs_chunks_make_room(struct sxs_chunks *c);

/** sxs_chunks_finish - cut the file after the chunks that have records, close it and unmap it. No
 *  thread uses it any more. */
void sxs_chunks_finish(struct sxs_chunks *c);

/** sxs_chunks_abandon - complete the file while threads may still write records or counters: what
 *  they store from now on is lost, in memory that takes the place of the map and is never freed.
 *  @c, which must not be used for another file, may still be passed to sxs_chunks_reserve(), which
 *  returns NULL. No thread may be in sxs_chunks_make_room(). Returns 0 or -errno. */
int sxs_chunks_abandon(struct sxs_chunks *c);

/** In a forked child: write nothing more, because the file belongs to the parent. */
void sxs_chunks_forget(struct sxs_chunks *c);

#endif
