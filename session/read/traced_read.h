/* SPDX-License-Identifier: MIT */
/**
 * traced_read.h - read a process's file "traced" back (traced.h has its bytes), whole.
 *
 * The file is taken as untrusted: it may be cut, garbled, or still be written by a living process.
 */
#ifndef SXS_RECORD_TRACED_READ_H
#define SXS_RECORD_TRACED_READ_H

#include <stdbool.h>

#include "session/format/traced.h"

/** One call. Texts are as in the file: control characters and bytes that are not UTF-8 may be among them. */
struct sxs_traced_call {
    uint64_t    started_tick, ended_tick; /* ended_tick: once it has ended */
    uint32_t    site, tid;
    uint32_t    depth;                    /* of traced calls of its thread that it is within */
    bool        ended, threw;
    const char *arguments, *result, *after, *thrown; /* borrowed from the data; NULL: none recorded */
};

struct sxs_traced_data {
    struct sxs_traced_header head;
    struct sxs_traced_call  *calls; /* by the tick they began at */
    size_t                   n_calls;
    char                    *texts;
    char                   **problems; /* lines: what was not whole */
    size_t                   n_problems;
};

/** sxs_traced_read - as sxs_instrument_read(). ENOENT: nothing was traced. */
int  sxs_traced_read(int folder_fd, struct sxs_traced_data *out, char *why, size_t why_size);
void sxs_traced_free(struct sxs_traced_data *d);

#endif
