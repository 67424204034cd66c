/* SPDX-License-Identifier: MIT */
/**
 * table.h - a session as people read it and as programs read it.
 */
#ifndef SXS_REPORT_TABLE_H
#define SXS_REPORT_TABLE_H

#include "session/read/session_read.h"
#include "cmd/calls/calls.h"
#include "cmd/events/events.h"
#include "cmd/instrument/instrument.h"

#include <stdio.h>

/**
 * sxs_table_print - the closing table: a row per runtime, under a heading per process when there is
 * more than one process, and a line for everything that deserves one (failed calls, runtimes that
 * are not listed, signals nobody wanted). Prints nothing but the notes when there is no runtime.
 */
void sxs_table_print(FILE *to, const struct sxs_session *s);

/** sxs_table_json - the same as one JSON object and a newline, with every function that was counted
 *  when @calls has any, exceptions and events of @events, and methods of @instrument. @singles: single
 *  calls of each process at most; 0: 5000; that there are more is said on standard error. Returns 0, or -1 without memory. */
int sxs_table_json(FILE *to, const struct sxs_session *s, const struct sxs_calls_report *calls,
                   const struct sxs_events_report *events,
                   const struct sxs_instrument_report *instrument, size_t singles);

/** sxs_table_rows - how many runtimes the session has, listed and unlisted. */
size_t sxs_table_rows(const struct sxs_session *s);

#endif
