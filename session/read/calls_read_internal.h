/* SPDX-License-Identifier: MIT */
/**
 * calls_read_internal.h - the declarations that the reader of the file "calls" shares among its
 * parts. For session/read/calls_*.c only.
 */
#ifndef SXS_SESSION_READ_CALLS_READ_INTERNAL_H
#define SXS_SESSION_READ_CALLS_READ_INTERNAL_H

#include "session/read/calls_read.h"

/** Mark of a cell that was read but has no index. Never an index of a function or
 *  path. */
#define SXS_CALLS_TAKEN (UINT32_MAX - 1)

/** A file that is being read. */
struct sxs_calls_reader {
    struct sxs_calls *c;        /* the result */
    unsigned char    *cells;    /* copy of the file's cells; owned */
    uint64_t          n_cells;  /* number of cells in that copy */
    uint32_t         *marks;    /* for each cell, read by sxs_calls_index(); owned. Zero where
                                 * nothing was read: the pages of a hole need no memory */
    size_t            cap_paths, cap_fns, cap_threads; /* capacities of the lists in c */
    uint64_t          bad_refs;                        /* number of invalid references */
    uint64_t          circles;   /* number of references to cells that are part of another object */
    uint64_t          last_tick; /* tick of the file's last clock reading */
};

/** sxs_calls_index - return the index of the function or path that begins in cell @ref;
 *  SXS_CALLS_TAKEN when the cell is part of anything else, SXS_CALLS_NONE when it was not read yet
 *  or the file has no such cell. */
static inline uint32_t sxs_calls_index(const struct sxs_calls_reader *r, sxs_calls_ref ref)
{
    return ref < r->n_cells ? ~r->marks[ref] : SXS_CALLS_NONE;
}

/** sxs_calls_set_index - set what sxs_calls_index() returns. @ref: a cell of the file. */
static inline void sxs_calls_set_index(struct sxs_calls_reader *r, sxs_calls_ref ref,
                                       uint32_t index)
{
    r->marks[ref] = ~index;
}

/** sxs_calls_cells_at - return the @n cells at @ref, borrowed. They must lie in one chunk and not
 *  include its first cell. Returns NULL when the reference is invalid, and counts it in
 *  bad_refs. */
const void *sxs_calls_cells_at(struct sxs_calls_reader *r, sxs_calls_ref ref, uint64_t n);

/**
 * sxs_calls_take_cells - return the @n cells at @ref, and mark them as SXS_CALLS_TAKEN.
 * Returns NULL also when one of the cells was taken before, and counts that in circles. So each
 * cell of the file is part of one object at most: lists end, and the result needs no more memory
 * than is proportional to the file's size.
 */
const void *sxs_calls_take_cells(struct sxs_calls_reader *r, sxs_calls_ref ref, uint64_t n);

/** Convert @ticks to ns by the file's clock; 0 when the result is too large. */
uint64_t sxs_calls_ns(const struct sxs_calls *c, uint64_t ticks);

/** Return the time of @tick since the header's started_ns, in ns; 0 when @tick is earlier. */
uint64_t sxs_calls_since_start(const struct sxs_calls *c, uint64_t tick);

/** sxs_calls_read_tree - read the paths of thread @thread (an index) below @root into r->c->paths.
 *  Returns 0 or ENOMEM. */
int sxs_calls_read_tree(struct sxs_calls_reader *r, sxs_calls_ref root, uint32_t thread);

/** sxs_calls_add_pending - add the duration in t->pending to its function. Call it after the
 *  thread's tree was read. */
void sxs_calls_add_pending(struct sxs_calls_reader *r, const struct sxs_calls_thread *t);

/** sxs_calls_read_events - read the traced calls of a thread from the blocks at @ref. Call it after
 *  the thread's tree was read, because the events refer to paths. Returns 0 or ENOMEM. */
int sxs_calls_read_events(struct sxs_calls_reader *r, struct sxs_calls_read_thread *t,
                          sxs_calls_ref ref);

/** sxs_calls_free_events - free the result of sxs_calls_read_events(). */
void sxs_calls_free_events(struct sxs_calls_read_thread *t);

/** sxs_calls_read_notes - read the notes into r->c->notes. Call it after the functions were
 *  read, because notes refer to functions. Returns 0 or ENOMEM. */
int sxs_calls_read_notes(struct sxs_calls_reader *r);

/** sxs_calls_free_notes - free the result of sxs_calls_read_notes(). */
void sxs_calls_free_notes(struct sxs_calls *c);

/** sxs_calls_sum - compute the times of paths without their callees, and the sums of each function
 *  over all paths. Returns 0 or ENOMEM. */
int sxs_calls_sum(struct sxs_calls *c);

#endif
