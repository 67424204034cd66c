/* SPDX-License-Identifier: MIT */
/**
 * instrument.h - load the files "instrument" of a session and report the instrumented methods.
 *
 * A session is loaded once, with every process that has a file "instrument".
 */
#ifndef SXS_CMD_INSTRUMENT_INSTRUMENT_H
#define SXS_CMD_INSTRUMENT_INSTRUMENT_H

#include <stdio.h>

#include <jansson.h>

#include "cmd/output/opened.h"
#include "session/read/instrument_read.h"

struct sxs_json_stream;

/** The instrumented methods of one process. */
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

/** Like sxs_events_report_load() and its release function, for the file "instrument". */
int sxs_instrument_report_load(const struct sxs_opened *v, const char *process,
                               struct sxs_instrument_report *out);
/** sxs_instrument_report_reader - return a reader for sxs_opened_read() that does the same. */
struct sxs_opened_reader sxs_instrument_report_reader(struct sxs_instrument_report *out);
void sxs_instrument_report_free(struct sxs_instrument_report *r);

/**
 * sxs_instrument_text - write a row for each method, methods that failed first, then by calls; then
 * traced calls.
 * @top: rows; 0: 30. @trace_entries: number of traced calls; 0: 200, and none unless a call has
 * values.
 */
void sxs_instrument_text(FILE *to, const struct sxs_instrument_report *r, size_t top,
                         size_t trace_entries);

/**
 * sxs_instrument_json - write the keys "instrument", "helpers", "instrument_spent" and
 * "instrument_rules" to @to. Returns 0, or -1 when out of memory or when the output failed.
 */
int sxs_instrument_json(struct sxs_json_stream *to, const struct sxs_instrument_report *r);

/**
 * sxs_instrument_calls_json - add the keys "traced_calls", "traced_left_out" and "traced_lost" to
 * @top, and the first @trace_entries traced calls of each process to "values". Returns 0, or -1 when out of memory.
 */
int sxs_instrument_calls_json(json_t *top, const struct sxs_instrument_report *r,
                              size_t trace_entries);

#endif
