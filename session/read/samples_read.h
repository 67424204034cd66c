/* SPDX-License-Identifier: MIT */
/**
 * samples_read.h - read a process's file "samples" back (samples.h has its bytes).
 *
 * The file is taken as untrusted: it may be cut, garbled, or still be written by a living process.
 * Chunks are read into memory of our own, one at a time, so that neither a file that shrinks nor
 * one that changes meanwhile can hurt: what was checked is what is used.
 */
#ifndef SXS_RECORD_SAMPLES_READ_H
#define SXS_RECORD_SAMPLES_READ_H

#include "session/format/samples.h"

#include <stddef.h>

/** An open file. One thread at a time; not signal-safe. */
struct sxs_samples;

/** A whole record. Pointers lead into the reader and hold until the next call on it. */
struct sxs_samples_record {
    enum sxs_record_type type; /* never SXS_RECORD_NONE */
    union {
        const struct sxs_record         *head;
        const struct sxs_record_sample  *sample;
        const struct sxs_record_thread  *thread;
        const struct sxs_record_module  *module;
        const struct sxs_record_code    *code;
        const struct sxs_record_runtime *runtime;
        const struct sxs_record_pause   *pause;
        const struct sxs_record_difference *difference;
    };
    /* Text that follows the record, not zero-terminated: a module's path; a function's name and
     * its assembly; a runtime's version and path. */
    const char                 *text[2];
    size_t                      text_size[2]; /* bytes */
    const struct sxs_code_line *lines;        /* of a code record */
    size_t                      n_lines;
};

/**
 * sxs_samples_open - open the file "samples" in a process's folder.
 * @folder_fd: the folder; borrowed for this call.
 * @out: receives the reader, owned by the caller: sxs_samples_close(). NULL on failure.
 * @why: receives one line about a failure, or "" when there is none.
 * Returns 0, ENOENT when the process has no samples (no reason for concern), EINVAL when the file
 * is none of ours, or another errno value. Follows no link and waits for no pipe.
 */
int sxs_samples_open(int folder_fd, struct sxs_samples **out, char *why, size_t why_size);

/** sxs_samples_head - a copy of the header, its command zero-terminated; holds until close. */
const struct sxs_samples_header *sxs_samples_head(const struct sxs_samples *s);

/**
 * sxs_samples_next - the next whole record, in the order of the file, which is not that of time.
 * Returns 1, or 0 at the end. What is damaged is skipped, counted and told by
 * sxs_samples_problem(). Always ends: every call consumes bytes of the file as it was at open.
 */
int sxs_samples_next(struct sxs_samples *s, struct sxs_samples_record *out);

/** sxs_samples_rewind - begin again with the first record; forgets the problems seen so far. */
void sxs_samples_rewind(struct sxs_samples *s);

/**
 * sxs_samples_problem - what was not whole, as one line each: @index from 0 until NULL returns.
 * Complete after sxs_samples_next() has returned 0. Borrowed until the next call on @s.
 */
const char *sxs_samples_problem(struct sxs_samples *s, size_t index);

/** sxs_samples_close - release it; NULL is fine. */
void sxs_samples_close(struct sxs_samples *s);

#endif
