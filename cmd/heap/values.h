/* SPDX-License-Identifier: MIT */
/** values.h - values of objects and static fields that were read for a heap snapshot. */
#ifndef SXS_CMD_HEAP_VALUES_H
#define SXS_CMD_HEAP_VALUES_H

#include "cmd/heap/graph.h"
#include "session/read/thread_names_read.h"

#include <stdio.h>

/** An object or a static field that is wanted. */
struct sxs_heap_wanted {
    uint64_t    address; /* of an object; 0: a static field */
    const char *text;    /* TYPE.FIELD; borrowed */
};

/** A line of VALUES (session/format/heap.h). */
struct sxs_heap_line {
    uint32_t runtime, what, depth;
    uint64_t address, offset, size, object;
    uint32_t name, owner, type, value; /* numbers in the strings */
};

/** The values in a snapshot. */
struct sxs_heap_values {
    struct sxs_heap_line        *all; /* owned; only those that are wanted */
    size_t                       n, cap;
    struct sxs_heap_bounds_item *bounds;    /* owned */
    uint32_t                    *bounds_of; /* runtime of each of these; owned */
    size_t                       n_bounds, cap_bounds, cap_bounds_of;
    struct sxs_strings           strings;
    bool                         open;         /* the lines that follow are wanted */
    struct sxs_thread_names      threads;
    uint32_t                     versions[64]; /* of runtimes, by number; 0: not known */
};

/**
 * sxs_heap_values_load - read the values of a snapshot that are wanted.
 * @folder_fd, @number, @runtime, @why: as for sxs_heap_load(). @wanted, @n: what is wanted.
 * Returns 0 or an errno value; free @out by sxs_heap_values_free() after 0.
 */
int  sxs_heap_values_load(int folder_fd, uint32_t number, uint32_t runtime,
                          const struct sxs_heap_wanted *wanted, size_t n,
                          struct sxs_heap_values *out, char *why, size_t why_size);
void sxs_heap_values_free(struct sxs_heap_values *v);

/** sxs_heap_values_answer - return whether a line answers a question. */
bool sxs_heap_values_answer(const struct sxs_heap_values *v, const struct sxs_heap_line *line,
                            const struct sxs_heap_wanted *wanted);

/** sxs_heap_line_has_value - return whether a line has a value, and not only a reason. */
static inline bool sxs_heap_line_has_value(const struct sxs_heap_line *line)
{
    return line->what != SXS_HEAP_VALUE_NONE && line->what != SXS_HEAP_VALUE_UNKNOWN;
}

/** sxs_heap_values_text - return a text of a line. sxs_heap_values_version - return the version of a
 *  runtime, or "". Borrowed from @v. */
const char *sxs_heap_values_text(const struct sxs_heap_values *v, uint32_t number);
const char *sxs_heap_values_version(const struct sxs_heap_values *v, uint32_t runtime);

/** Write the values as text or JSON. The text leaves out UNKNOWN lines. */
void sxs_heap_write_values(FILE *to, const struct sxs_heap_values *v);
void sxs_heap_write_values_json(FILE *to, const struct sxs_heap_values *v);

#endif
