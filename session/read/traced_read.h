/* SPDX-License-Identifier: MIT */
/**
 * traced_read.h - reads the whole file "traced" of a process (session/format/traced.h has the
 * format).
 *
 * The file is untrusted: it may be cut, damaged, or still be written by a living process.
 */
#ifndef SXS_SESSION_READ_TRACED_READ_H
#define SXS_SESSION_READ_TRACED_READ_H

#include <stdbool.h>

#include "session/format/traced.h"
#include "session/read/file_read.h"

/** One call. Texts are copied from the file as they are, so they may contain control characters and
 *  bytes that are not UTF-8. struct sxs_traced_end describes fields without a comment. */
struct sxs_traced_call {
    uint64_t    started_tick, ended_tick; /* ended_tick: valid if `ended` */
    uint32_t    method, tid;              /* number of the instrumented method; thread */
    uint32_t    depth;                    /* number of traced calls of its thread that enclose it */
    bool        ended, threw;
    const char *arguments, *result, *after, *thrown; /* borrowed from `texts`; NULL: not recorded */
};

struct sxs_traced_data {
    struct sxs_traced_header head;
    struct sxs_traced_call  *calls; /* owned; ordered by started_tick */
    size_t                   n_calls;
    char                    *texts;    /* owned: all texts of the calls */
    char                   **problems; /* lines that describe the damage in the file */
    size_t                   n_problems;
};

/** sxs_traced_read - read the file "traced" in a process's folder.
 *  @folder: the folder; borrowed. @out: overwritten; free its contents by sxs_traced_free().
 *  @why: receives one line about a failure, at most @why_size bytes.
 *  Returns 0, ENOENT when nothing was traced, EINVAL when the file has another format, or another
 *  errno value. */
int  sxs_traced_read(const struct sxs_files *folder, struct sxs_traced_data *out, char *why,
                     size_t why_size);
void sxs_traced_free(struct sxs_traced_data *d);

#endif
