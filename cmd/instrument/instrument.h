/* SPDX-License-Identifier: MIT */
/** instrument.h - reports of methods that got new IL, for the command. Loaded once: every process that has a file
 *  "instrument". */
#ifndef SXS_REPORT_INSTRUMENT_INSTRUMENT_H
#define SXS_REPORT_INSTRUMENT_INSTRUMENT_H

#include <stdio.h>

#include <jansson.h>

#include "session/read/instrument_read.h"
#include "session/read/session_read.h"

/** One process's. */
struct sxs_instrument_process {
    const struct sxs_session_process *process; /* borrowed from the session */
    struct sxs_instrument_data       *data;    /* owned */
};

struct sxs_instrument_report {
    struct sxs_instrument_process *processes; /* owned */
    size_t                         n;
    char                         **problems; /* owned lines: "123/instrument: ..." */
    size_t                         n_problems;
};

/** As sxs_events_report_load() does. */
int  sxs_instrument_report_load(const char *dir, const struct sxs_session *session,
                                const char *process, struct sxs_instrument_report *out);
void sxs_instrument_report_free(struct sxs_instrument_report *r);

/** A row for each method: those that failed first, then by calls. @top: rows; 0: 30. Then single calls: @singles of
 *  them; 0: 200, if any has values. */
void sxs_instrument_text(FILE *to, const struct sxs_instrument_report *r, size_t top,
                         size_t singles);

/** Adds the keys "instrument" and "helpers" to @top, and single calls to "values", the first @singles of each process.
 *  Returns 0, or -1 without memory. */
int sxs_instrument_json(json_t *top, const struct sxs_instrument_report *r, size_t singles);

#endif
