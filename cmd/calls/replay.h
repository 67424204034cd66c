/* SPDX-License-Identifier: MIT */
/**
 * replay.h - replay the recorded calls of one thread in order, correctly nested.
 *
 * Each call begins after its caller begins and ends before its caller ends. Where events are
 * missing, a call begins (or ends) at the first event that shows that the call had begun (or
 * ended).
 */
#ifndef SXS_CMD_CALLS_REPLAY_H
#define SXS_CMD_CALLS_REPLAY_H

#include "session/read/calls_read.h"

/**
 * What was recorded about a begin or an end. NULL in place of this object: the event is missing and
 * was inferred from others.
 */
struct sxs_calls_details {
    const char *values;  /* arguments of a begin, result of an end; NULL: not recorded. Borrowed */
    bool        unwound; /* the call was left by an exception */
};

struct sxs_calls_replay {
    /**
     * Called when the call at path @path begins (@begins true) or ends.
     * @ns: since the header's started_ns. @details: what was recorded; NULL for an inferred event.
     */
    void (*at)(void *arg, uint32_t path, uint64_t ns, bool begins,
               const struct sxs_calls_details *details);
    void *arg;
};

/**
 * sxs_calls_replay - replay the calls of thread @index of @c through r->at().
 * Calls still under way end when the thread ends, or at the thread's last recorded event when later
 * events did not fit into the file.
 * @repaired: receives the number of inferred begins and ends; NULL: not wanted.
 * Returns how many of the thread's last events were not replayed; 0: none. Events are dropped when
 * memory runs out, or when the file is damaged so that too many begins and ends would have to be
 * inferred between its events.
 */
size_t sxs_calls_replay(const struct sxs_calls *c, size_t index, const struct sxs_calls_replay *r,
                        uint64_t *repaired);

#endif
