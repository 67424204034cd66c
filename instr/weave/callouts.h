/* SPDX-License-Identifier: MIT */
/**
 * callouts.h - what new IL calls: native functions, with the place they are called from as an integer.
 *
 * They run on the program's threads in cooperative mode, without a transition (CallConvSuppressGCTransition): a
 * runtime that collects waits for them. So: no locks, no runtime, no waiting; a thread's first call takes
 * memory. One place belongs to one method in one runtime.
 */
#ifndef SXS_REWRITE_CALLOUTS_H
#define SXS_REWRITE_CALLOUTS_H

#include "include/sxsprof.h"
#include "base/base.h"
#include "session/format/instrument.h"

/** A marker: lives as long as the process, for code that was taken out may still run. Native code that a rule calls
 *  gets it, too, as its public first part. */
struct sxs_marker {
    struct sxsprof_method method;
    uint32_t              site; /* number in the file */
    size_t                place; /* in a thread's table of counters, bytes: sxs_marker_set() */
};

#define SXS_SITES_MAX (1u << 20) /* in a process, of all times */

/** sxs_marker_set - of the site of this number. */
void sxs_marker_set(struct sxs_marker *marker, uint32_t site);

/** sxs_callout_count - one call of the method whose marker has this place. */
void sxs_callout_count(size_t place);

/** Counted, and what time it is: for sxs_callout_leave(). */
uint64_t sxs_callout_enter(const struct sxs_marker *marker);
void     sxs_callout_leave(const struct sxs_marker *marker, uint64_t entered);
void     sxs_callout_threw(const struct sxs_marker *marker, uint64_t entered);

/** What both do; returns what time it is. */
uint64_t sxs_callout_end(const struct sxs_marker *marker, uint64_t entered, int threw);

/** A helper that the method called threw, and the method goes on. */
void sxs_callout_swallowed(const struct sxs_marker *marker);

/** In a forked child: counters are its own from now on. */
void sxs_callouts_forget(void);

#endif
