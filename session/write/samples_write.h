/* SPDX-License-Identifier: MIT */
/**
 * samples_write.h - the writer of the file "samples" (session/format/samples.h): writes records
 * into the mapped file.
 *
 * sxs_samples_reserve() and sxs_samples_commit() are async-signal-safe and lock-free; any number of
 * threads and signal handlers may write at once. A thread of the library calls
 * sxs_samples_make_room(), which keeps chunks ready for them. There is one file per process.
 */
#ifndef SXS_SESSION_WRITE_SAMPLES_WRITE_H
#define SXS_SESSION_WRITE_SAMPLES_WRITE_H

#include "base/base.h"
#include "session/write/folder_write.h"
#include "session/format/samples.h"

struct sxs_samples_writer;

/**
 * sxs_samples_create - create and map the file "samples".
 * @folder: the process's folder; borrowed until sxs_samples_finish().
 * @max_bytes: limit of the file's size; when it is reached, reserving fails.
 * @low: NULL, or wakes the thread that calls sxs_samples_make_room(); called by threads and signal
 *   handlers when little room is left.
 * Returns a writer that lives until sxs_samples_finish(), or NULL with errno set (no room, no folder);
 * then nothing is left behind. Not signal-safe.
 */
struct sxs_samples_writer *sxs_samples_create(const struct sxs_folder *folder,
                                              uint64_t max_bytes, void (*low)(void));

/** Return the header. The caller fills it before the first record and updates its counters.
 *  Borrowed. Any thread; signal-safe. */
SXS_SIGSAFE struct sxs_samples_header *sxs_samples_header(struct sxs_samples_writer *w);

/** sxs_samples_reserve - reserve room for a record, as sxs_chunks_reserve() does. Signal-safe. */
SXS_SIGSAFE void *sxs_samples_reserve(struct sxs_samples_writer *w, size_t size);

/** sxs_samples_commit - make a filled record visible to readers by storing its @type.
 *  @record: from sxs_samples_reserve(). Signal-safe. */
SXS_SIGSAFE void sxs_samples_commit(void *record, enum sxs_record_type type);

/** sxs_samples_expect_bursts - keep more room ready, because threads record what they do themselves,
 *  and not what a clock chooses. Calls the function @low of sxs_samples_create(). Any thread. */
void sxs_samples_expect_bursts(struct sxs_samples_writer *w);

/** sxs_samples_make_room - grow the file until enough chunks are ready, as sxs_chunks_make_room()
 *  does. Called every few milliseconds by one thread. */
int sxs_samples_make_room(struct sxs_samples_writer *w);

/** sxs_samples_finish - complete and close the file. No thread uses @w any more. */
void sxs_samples_finish(struct sxs_samples_writer *w);

/** In a forked child: write nothing more, because the file belongs to the parent. */
void sxs_samples_forget(struct sxs_samples_writer *w);

#endif
