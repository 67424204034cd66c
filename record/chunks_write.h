/* SPDX-License-Identifier: MIT */
/**
 * chunks_write.h - the library's end of a file of chunks: records written straight into the map.
 *
 * sxs_chunks_reserve() and sxs_chunks_commit() are async-signal-safe and lock-free; any number of
 * threads and handlers may write at once. Room is made ahead of them by sxs_chunks_make_room(), on a
 * thread of the library's own.
 */
#ifndef SXS_CHUNKS_WRITE_H
#define SXS_CHUNKS_WRITE_H

#include "manager/base/base.h"
#include "record/chunks.h"
#include "record/file_write.h"

/** One file; lives as long as the process. Zeroed before sxs_chunks_create(). */
struct sxs_chunks {
    struct sxs_file   file;
    unsigned char    *map; /* address space for max_chunks; backed for *n_chunks of them */
    uint32_t          max_chunks;
    uint32_t          ahead; /* chunks kept ready; 0: a few */
    int               full;  /* the disk said so once */
    _Atomic int       off;
    _Atomic uint32_t  current;  /* chunk that records go into */
    _Atomic uint32_t *n_chunks; /* in the header: chunks the file has */
};

/**
 * sxs_chunks_create - the file @name in @folder (both borrowed for the life of @c), mapped, its first
 * chunks ready. @max_bytes: upper bound of the file, less under RLIMIT_AS. @n_chunks_at: where the header counts the chunks.
 * Returns 0 with the header's magic still to be stored, or an errno value (no room, no folder); then
 * nothing is left behind. Not signal-safe.
 */
int sxs_chunks_create(struct sxs_chunks *c, const struct sxs_folder *folder, const char *name,
                      uint64_t max_bytes, size_t n_chunks_at);

/**
 * sxs_chunks_reserve - room for a record of @size bytes (rounded up to 8), size and mark filled in,
 * the rest zero. NULL when there is none: the caller counts what it drops. Signal-safe.
 */
SXS_SIGSAFE void *sxs_chunks_reserve(struct sxs_chunks *c, size_t size);

/** Makes a filled record visible to readers. @record: from reserve. Signal-safe. */
SXS_SIGSAFE void sxs_chunks_commit(void *record, uint16_t type);

/** Keeps chunks ready ahead of the writers. Returns 0, or -errno (disk full: what is there goes on
 *  being used). Called every few milliseconds, by one thread at a time. */
int sxs_chunks_make_room(struct sxs_chunks *c);

/** In a forked child: the file stays the parent's, and nothing is written any more. */
void sxs_chunks_forget(struct sxs_chunks *c);

#endif
