/* SPDX-License-Identifier: MIT */
/** call_trace.h - traced calls with arguments and results, in the order in which they began. */
#ifndef SXS_CMD_CALLS_CALL_TRACE_H
#define SXS_CMD_CALLS_CALL_TRACE_H

#include "cmd/calls/calls.h"

struct sxs_calls_trace_entry {
    uint64_t    ns, duration_ns; /* ns: start, since the header's started_ns */
    uint32_t    path, thread;    /* indexes into the paths and threads */
    unsigned    depth;           /* number of enclosing calls; 0: outermost */
    size_t      order;           /* increases in the order of the thread's events */
    bool        ended, unwound;  /* ended: an end was recorded; unwound: left by an exception */
    const char *arguments, *result; /* borrowed from the calls; NULL: not recorded */
};

/**
 * sxs_calls_trace_collect - collect the first @limit traced calls of @p, on the threads that @v
 * selects.
 * @out: receives the calls; release them with free(). @total: receives the number of all traced
 * calls of these threads.
 * Returns the number of calls in @out; 0 also when no values were recorded or memory ran out.
 */
size_t sxs_calls_trace_collect(const struct sxs_calls_process *p, const struct sxs_calls_view *v,
                               size_t limit, struct sxs_calls_trace_entry **out, size_t *total);

/**
 * sxs_calls_trace_text - write traced calls as a log, indented by depth: time, thread, runtime,
 * Name(arguments) = result <duration>.
 */
void sxs_calls_trace_text(FILE *to, const struct sxs_calls_process *p,
                          const struct sxs_calls_view *v);

#endif
