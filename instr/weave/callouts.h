/* SPDX-License-Identifier: MIT */
/**
 * callouts.h - callouts: the native functions that the IL of instrumented methods calls to count
 * and time.
 *
 * Callouts run on the program's threads in cooperative mode, without a transition
 * (CallConvSuppressGCTransition), so a runtime that collects garbage waits for them. Therefore they
 * take no locks, do not call the runtime and do not wait. A thread's first call is an exception: it
 * allocates memory.
 */
#ifndef SXS_INSTR_WEAVE_CALLOUTS_H
#define SXS_INSTR_WEAVE_CALLOUTS_H

#include "include/sxsprof.h"
#include "base/base.h"
#include "session/format/instrument.h"

/** Identifies one method in one runtime; its address is a constant in the method's new IL. Lives as
 *  long as the process, because code with an earlier version of the IL may still run. Native code
 *  that a rule calls receives a pointer to the first member, which is public. */
struct sxs_marker {
    struct sxsprof_method method;
    uint32_t method_number;      /* number of the instrumented method in the session file, from 0 */
    size_t                place; /* byte offset in a thread's table of counters: sxs_marker_set() */
};

#define SXS_INSTRUMENTED_MAX (1u << 20) /* instrumented methods during the life of a process */

/** sxs_marker_set - set the number of the marker's method, and the place that follows from it. */
void sxs_marker_set(struct sxs_marker *marker, uint32_t method_number);

/** sxs_callout_count - count a call of the method whose marker has this @place. */
void sxs_callout_count(size_t place);

/** sxs_callout_enter - count a call that begins. Returns the time in ticks of sxs_tick(). */
uint64_t sxs_callout_enter(const struct sxs_marker *marker);

/** The call ends: it returns (leave), or an exception leaves it (threw). @entered: what
 *  sxs_callout_enter() returned. */
void sxs_callout_leave(const struct sxs_marker *marker, uint64_t entered);
void sxs_callout_threw(const struct sxs_marker *marker, uint64_t entered);

/** sxs_callout_end - do what both of these do. Returns the time in ticks. */
uint64_t sxs_callout_end(const struct sxs_marker *marker, uint64_t entered, int threw);

/** sxs_callout_swallowed - count an exception of a helper that the method called, and that was
 *  caught. */
void sxs_callout_swallowed(const struct sxs_marker *marker);

/** sxs_callouts_forget - in a forked child: count in memory of the child's own from now on. */
void sxs_callouts_forget(void);

/** sxs_callouts_begin_session, sxs_callouts_end_session - between the two calls, calls are counted in
 *  the file of the session. Code with new IL may run at any time. The second one comes before
 *  sxs_instrument_close(). */
void sxs_callouts_begin_session(void);
void sxs_callouts_end_session(void);

#endif
