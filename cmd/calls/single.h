/* SPDX-License-Identifier: MIT */
/** single.h - single calls with arguments and results, in the order they began. */
#ifndef SXS_REPORT_CALLS_SINGLE_H
#define SXS_REPORT_CALLS_SINGLE_H

#include "cmd/calls/calls.h"

struct sxs_calls_single {
    uint64_t    ns, duration_ns; /* since the header's started_ns */
    uint32_t    path, thread;    /* indexes */
    unsigned    depth;           /* calls it is within, 0: none */
    size_t      order;           /* among its thread's */
    bool        ended, unwound;  /* unwound: an exception left it */
    const char *arguments, *result; /* borrowed from the calls; NULL: not recorded */
};

/**
 * sxs_calls_singles - the first @limit calls of @p on threads that @v wants.
 * @out: owned by the caller: free(). @total: receives how many there are. Returns how many; 0 also when no values were recorded, or there is
 * no memory.
 */
size_t sxs_calls_singles(const struct sxs_calls_process *p, const struct sxs_calls_view *v,
                         size_t limit, struct sxs_calls_single **out, size_t *total);

/** As a log, indented: time, thread, runtime, Name(arguments) = result <duration>. */
void sxs_calls_singles_text(FILE *to, const struct sxs_calls_process *p,
                            const struct sxs_calls_view *v);

#endif
