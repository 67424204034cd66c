/* SPDX-License-Identifier: MIT */
/**
 * replay.h - a thread's single calls in order, nested: each begins within its caller's and ends before
 * it. Where events are missing, calls begin and end when they are first seen to have.
 */
#ifndef SXS_REPORT_CALLS_REPLAY_H
#define SXS_REPORT_CALLS_REPLAY_H

#include "session/read/calls_read.h"

/** What was recorded of a beginning or an end. NULL: nobody told it, it must have been. */
struct sxs_calls_known {
    const char *values;  /* arguments, result; NULL: not recorded. Borrowed */
    bool        unwound; /* an exception left the call */
};

struct sxs_calls_replay {
    /** The call at path @path begins (@begins) or ends at @ns since the header's started_ns. */
    void (*at)(void *arg, uint32_t path, uint64_t ns, bool begins, const struct sxs_calls_known *known);
    void *arg;
};

/**
 * sxs_calls_replay - the calls of thread @index of @c. What is still under way ends with the thread, or,
 * when its last events found no room, with the last of them. @repaired: receives how many beginnings and
 * ends nobody told; NULL: not wanted.
 * Returns how many of the thread's last events were left out: of a damaged file, whose events would have too many
 * beginnings and ends made up between them, or for want of memory. 0: none.
 */
size_t sxs_calls_replay(const struct sxs_calls *c, size_t index, const struct sxs_calls_replay *r,
                        uint64_t *repaired);

#endif
