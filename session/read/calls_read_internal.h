/* SPDX-License-Identifier: MIT */
/**
 * calls_reader.h - what the parts of the reader of a file "calls" share; for calls_*.c alone.
 */
#ifndef SXS_RECORD_CALLS_READER_H
#define SXS_RECORD_CALLS_READER_H

#include "session/read/calls_read.h"

/** A cell that was read and has no index. No function or path has this index. */
#define SXS_CALLS_TAKEN (UINT32_MAX - 1)

/** One file being read. */
struct sxs_calls_reader {
    struct sxs_calls *c;        /* what comes of it */
    unsigned char    *cells;    /* the file's, in memory; owned */
    uint64_t          n_cells;  /* in memory */
    uint32_t         *index_of; /* by cell: the index of the function or path that begins in it, SXS_CALLS_TAKEN
                                   when it is part of anything else, SXS_CALLS_NONE when it is not read yet; owned */
    size_t            cap_paths, cap_fns, cap_threads;
    uint64_t          bad_refs; /* references that lead nowhere */
    uint64_t          circles;  /* references to cells that were read before, as part of something else */
    uint64_t          last_tick;         /* of the clock's last word */
};

/** @n cells at @ref, borrowed, or NULL (counted). A chunk's first cell is not for the taking. */
const void *sxs_calls_cells_at(struct sxs_calls_reader *r, sxs_calls_ref ref, uint64_t n);

/**
 * sxs_calls_take_cells - the same, for what is read once: marks the cells as SXS_CALLS_TAKEN.
 * Returns NULL as well when one of them was taken before, and counts that as a circle: each cell of the file is part of
 * one thing at most, so that lists end and what is read takes no more memory than the file is large.
 */
const void *sxs_calls_take_cells(struct sxs_calls_reader *r, sxs_calls_ref ref, uint64_t n);

/** Room for one more than @n items of @item bytes: @list, moved if it must be, or NULL. */
void *sxs_calls_room(void *list, size_t n, size_t *cap, size_t item);

/** Ticks as ns, by the file's clock; 0 when they are too many. */
uint64_t sxs_calls_ns(const struct sxs_calls *c, uint64_t ticks);

/** The tick's time since the header's started_ns, ns; 0 before that. */
uint64_t sxs_calls_since_start(const struct sxs_calls *c, uint64_t tick);

/** sxs_calls_read_tree - a thread's paths below @root, into r->c->paths. Returns 0 or ENOMEM. */
int sxs_calls_read_tree(struct sxs_calls_reader *r, sxs_calls_ref root, uint32_t thread);

/** sxs_calls_add_pending - the duration of @t that waits to be counted; after the thread's tree. */
void sxs_calls_add_pending(struct sxs_calls_reader *r, const struct sxs_calls_thread *t);

/** sxs_calls_read_events - a thread's single calls, after its tree, whose paths they name.
 *  Returns 0 or ENOMEM. */
int sxs_calls_read_events(struct sxs_calls_reader *r, struct sxs_calls_thr *t, sxs_calls_ref ref);

/** sxs_calls_free_moments - what sxs_calls_read_events() made. */
void sxs_calls_free_moments(struct sxs_calls_thr *t);

/** sxs_calls_read_remarks - the notes into r->c->remarks, after the functions, which they name. Returns 0 or ENOMEM. */
int sxs_calls_read_remarks(struct sxs_calls_reader *r);

/** sxs_calls_free_remarks - what sxs_calls_read_remarks() made. */
void sxs_calls_free_remarks(struct sxs_calls *c);

/** sxs_calls_sum - what functions come to, from all paths. Returns 0 or ENOMEM. */
int sxs_calls_sum(struct sxs_calls *c);

#endif
