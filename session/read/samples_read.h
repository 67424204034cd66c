/* SPDX-License-Identifier: MIT */
/**
 * samples_read.h - reads the file "samples" of a process (session/format/samples.h has the format).
 *
 * The file is untrusted, as session/read/chunks_read.h describes, which reads its chunks.
 */
#ifndef SXS_SESSION_READ_SAMPLES_READ_H
#define SXS_SESSION_READ_SAMPLES_READ_H

#include "session/format/samples.h"
#include "session/read/chunks_read.h"

#include <stddef.h>

/** An open file. One thread at a time; not signal-safe. */
struct sxs_samples;

/** An undamaged record. Its pointers point into the reader and are valid until the next call on
 *  it. */
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
        /* Its n is a number > 0 and < 2^53, and n * value is < 2^63. */
        const struct sxs_record_cost       *cost;
        const struct sxs_record_name       *name; /* its number is not 0 */
        const struct sxs_record_released   *released;
        const struct sxs_record_live       *live;
        const struct sxs_record_total      *total;
        const struct sxs_record_pool       *pool; /* its change is one that is known */
    };
    /* Texts of the record, not zero-terminated: the path of a module; the name of a function and
     * the path of its assembly; the version and the path of a runtime; the text of a name. */
    const char                 *text[2];
    size_t                      text_size[2]; /* bytes */
    const struct sxs_code_line *lines;        /* of a code record */
    size_t                      n_lines;
};

/** sxs_sample_contexts - return the contexts after the IPs of an undamaged sample. @n: receives
 *  their number. Pure. */
static inline const struct sxs_sample_context *sxs_sample_contexts(const struct sxs_record_sample *v,
                                                                   size_t                         *n)
{
    *n = (v->head.size - sizeof(*v) - v->n * sizeof(v->ips[0])) / sizeof(struct sxs_sample_context);
    return (const struct sxs_sample_context *)(const void *)&v->ips[v->n];
}

/* Whether the record of a thread, undamaged, has a field that those of earlier sessions lack. */
#define SXS_THREAD_HAS(v, field) \
    ((v)->head.size >= offsetof(struct sxs_record_thread, field) + sizeof((v)->field))

/** sxs_thread_name_read_ns - return when the name of an undamaged record was read; 0: not known. */
static inline uint64_t sxs_thread_name_read_ns(const struct sxs_record_thread *v)
{
    return SXS_THREAD_HAS(v, name_ns) ? v->name_ns : 0;
}

/** sxs_thread_unsampled_ns - return the time of its life that no sample stands for; 0: not known. */
static inline uint64_t sxs_thread_unsampled_ns(const struct sxs_record_thread *v)
{
    return SXS_THREAD_HAS(v, unsampled_ns) ? v->unsampled_ns : 0;
}

/** sxs_thread_born_ns - return when the kernel started the thread (struct sxs_record_thread); 0: not known. */
static inline uint64_t sxs_thread_born_ns(const struct sxs_record_thread *v)
{
    return SXS_THREAD_HAS(v, born_ns) ? v->born_ns : 0;
}

/**
 * sxs_samples_open - open the file "samples" in a process's folder.
 * @folder: the folder; borrowed for this call.
 * @out: receives the reader, owned by the caller; close it by sxs_samples_close(). NULL after a
 *   failure.
 * @why: receives one line about a failure, or "" when there is none.
 * Returns 0, ENOENT when the process has no such file (which is normal), EINVAL when the file has
 * another format, or another errno value. Follows no symbolic link and does not wait for a pipe.
 */
int sxs_samples_open(const struct sxs_files *folder, struct sxs_samples **out, char *why,
                     size_t why_size);

/** sxs_samples_head - return a copy of the header, its command zero-terminated. Borrowed, valid until
 *  sxs_samples_close(). */
const struct sxs_samples_header *sxs_samples_head(const struct sxs_samples *s);

/** sxs_costs_on - return true when costs of @kind were recorded in the process of this header. */
bool sxs_costs_on(const struct sxs_samples_header *head, enum sxs_cost_kind kind);

/**
 * sxs_samples_next - read the next undamaged record, in the order of the file, which is not the
 * order of time.
 * Returns true, or false at the end of the file. Damaged records are skipped and reported by
 * sxs_samples_problem(). A loop over it always ends, because every call consumes bytes of the file
 * as it was when it was opened.
 */
bool sxs_samples_next(struct sxs_samples *s, struct sxs_samples_record *out);

/** sxs_samples_rewind - start again with the first record, and forget the problems found so far. */
void sxs_samples_rewind(struct sxs_samples *s);

/** The kind of file, for sxs_chunk_follow_open(); its highest record type is SXS_RECORD_POOL. */
extern const struct sxs_chunk_file sxs_samples_kind;

/** sxs_samples_take - fill in @out, a struct sxs_samples_record, from a record of the file. Returns
 *  false when the record is damaged. Pure; a sxs_chunk_take. */
bool sxs_samples_take(const struct sxs_record *record, uint16_t type, void *out);

/**
 * sxs_samples_problem - return a line that describes a kind of damage that was found.
 * @index: count it up from 0 until NULL is returned.
 * The list is complete after sxs_samples_next() has returned false. The line is borrowed until the next
 * call on @s.
 */
const char *sxs_samples_problem(struct sxs_samples *s, size_t index);

/** sxs_samples_close - close and free the reader; NULL is allowed. */
void sxs_samples_close(struct sxs_samples *s);

#endif
