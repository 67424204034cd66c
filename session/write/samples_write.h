/* SPDX-License-Identifier: MIT */
/**
 * samples_write.h - the library's end of the file "samples": records written straight into the map.
 *
 * sxs_samples_reserve() and sxs_samples_commit() are async-signal-safe and lock-free; any number of
 * threads and handlers may write at once. Room is made ahead of them by sxs_samples_make_room(), on a
 * thread of the library's own. One file per process.
 */
#ifndef SXS_SAMPLES_WRITE_H
#define SXS_SAMPLES_WRITE_H

#include "base/base.h"
#include "session/write/folder_write.h"
#include "session/format/samples.h"

struct sxs_samples_writer;

/**
 * sxs_samples_create - the file "samples" in @folder (borrowed for good), mapped.
 * @max_bytes: upper bound of the file; further samples are counted as dropped.
 * Returns a writer that lives as long as the process, or NULL with errno set (no room, no folder);
 * in that case nothing is left behind. Not signal-safe.
 */
struct sxs_samples_writer *sxs_samples_create(const struct sxs_folder *folder,
                                              uint64_t                 max_bytes);

/** The header, to be filled before the first record and counted into. Borrowed. Signal-safe. */
SXS_SIGSAFE struct sxs_samples_header *sxs_samples_header(struct sxs_samples_writer *w);

/**
 * sxs_samples_reserve - room for a record of @size bytes (rounded up to 8), size and mark filled in,
 * the rest zero. NULL when there is none: the caller counts what it drops. Signal-safe.
 */
SXS_SIGSAFE void *sxs_samples_reserve(struct sxs_samples_writer *w, size_t size);

/** Makes a filled record visible to readers. @record: from reserve. Signal-safe. */
SXS_SIGSAFE void sxs_samples_commit(void *record, enum sxs_record_type type);

/** Keeps chunks ready ahead of the writers. Returns 0, or -errno (disk full: what is there goes on
 *  being used). Called every few milliseconds by one thread. */
int sxs_samples_make_room(struct sxs_samples_writer *w);

/** In a forked child: the file stays the parent's, and nothing is written any more. */
void sxs_samples_forget(struct sxs_samples_writer *w);

#endif
