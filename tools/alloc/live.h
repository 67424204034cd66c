/* SPDX-License-Identifier: MIT */
/**
 * tools/alloc/live.h - follows sampled objects until they are collected.
 *
 * Each object gets a weak handle, which does not keep it alive. During the pause of a collection the
 * objects of young generations are looked at, which are few; after it a thread of the library looks
 * at those of old ones, and does everything else. docs/internals/memory.md has the reasons.
 */
#ifndef SXS_TOOLS_ALLOC_LIVE_H
#define SXS_TOOLS_ALLOC_LIVE_H

#include "manager/runtime.h"

#define SXS_LIVE_OBJECTS (1u << 16) /* objects followed at a time, in all runtimes */

/** The objects of one runtime. */
struct sxs_alloc_live;

/** sxs_live_new - begin to follow objects of @rt. Starts the thread, if there is none yet. Returns
 *  NULL when memory or threads ran out. */
struct sxs_alloc_live *sxs_live_new(struct sxs_runtime *rt);

/** sxs_live_collect - collect all objects, and wait until those that are gone have their records, a few
 *  seconds at most. Call while collections are reported to this file, on a thread as for sxs_force_gc(). */
void sxs_live_collect(struct sxs_alloc_live *live);

/** sxs_live_look_last - the same after sxs_live_stop(), when no collection is reported any more, and no
 *  call of the other functions is in progress. */
void sxs_live_look_last(struct sxs_alloc_live *live);

/** sxs_live_stop - stop following. Calls of the other functions may go on, also of one that looks at
 *  objects; so the handles stay. */
void sxs_live_stop(struct sxs_alloc_live *live);

/** sxs_live_end - stop following, and give all entries back. @destroy: 1: the runtime goes on, so the
 *  handles are destroyed; no other call for @live may be in progress. 0: it ends; calls of the other
 *  functions in progress may go on. */
void sxs_live_end(struct sxs_alloc_live *live, int destroy);

/** sxs_live_end_session - join the thread. No struct sxs_alloc_live is left. */
void sxs_live_end_session(void);

/** sxs_live_free - free @live (NULL is allowed), which no thread uses any more. */
void sxs_live_free(struct sxs_alloc_live *live);

/**
 * sxs_live_follow - follow an object that was just allocated.
 * @object: its address. Call it in the callback that tells of the object: until the callback has
 *   returned, no collection can move it.
 * @id: of the object's cost.
 * Returns 1; or 0, and counts the object, when there is no room or the runtime refuses.
 * Takes no lock; not signal-safe. */
int sxs_live_follow(struct sxs_alloc_live *live, uint64_t object, uint64_t id);

/** sxs_live_suspended - note whether the calling thread has stopped the runtime's threads. */
void sxs_live_suspended(struct sxs_alloc_live *live, int is_stopped);

/** sxs_live_collecting, sxs_live_collected - note the beginning and the end of a collection of
 *  generations up to @generation. Call in the callbacks that report them. */
void sxs_live_collecting(struct sxs_alloc_live *live, unsigned generation);
void sxs_live_collected(struct sxs_alloc_live *live);

/** sxs_live_lost - return the number of objects that could not be followed. Any thread. */
uint64_t sxs_live_lost(const struct sxs_alloc_live *live);

#endif
