/* SPDX-License-Identifier: MIT */
/** table.h - print a session as a table, or as JSON. */
#ifndef SXS_CMD_TABLE_H
#define SXS_CMD_TABLE_H

#include "session/read/session_read.h"
#include "cmd/calls/calls.h"
#include "cmd/costs/costs.h"
#include "cmd/events/events.h"
#include "cmd/guests/guests.h"
#include "cmd/heap/counts.h"
#include "cmd/instrument/instrument.h"
#include "cmd/output/segments.h"
#include "cmd/report/model.h"
#include "cmd/traces/traces.h"

#include <stdio.h>

/**
 * sxs_table_print - print the table that closes a run.
 * There is a row per runtime, a heading per process when there is more than one process, and a line
 * for each noteworthy count: failed calls, runtimes that are not listed, signals that no runtime
 * handled. Processes without runtimes are left out; nothing is printed when there is no runtime.
 */
void sxs_table_print(FILE *to, const struct sxs_session *s);

/** What a JSON report contains besides the runtimes. Borrowed; lists without elements are left out. */
struct sxs_table_parts {
    const struct sxs_calls_report      *calls;
    const struct sxs_events_report     *events;
    const struct sxs_instrument_report *instrument;
    const struct sxs_guests_report     *guests;
    const struct sxs_heap_newest       *heap;
    const struct sxs_costs_report      *costs;
    const struct sxs_model *profile; /* samples or costs with their stacks; NULL: none */
    const struct sxs_segments          *segments;
    const struct sxs_traces            *traces;
    const struct sxs_missing           *missing;
    uint32_t runtime;       /* only types of costs that are of the runtime of this number; 0: all */
    size_t   trace_entries; /* maximum number of traced calls of each process; 0: 5000. When there are
                             * more, a line on standard error says so */
    bool     chosen;        /* samples were chosen by thread, trace or kind of frame. Parts that have
                             * no such choice are left out, and named under "left_out" */
};

/**
 * sxs_table_json - write the session as one JSON object and a newline.
 * Returns 0, or -1 when out of memory.
 */
int sxs_table_json(FILE *to, const struct sxs_session *s, const struct sxs_table_parts *parts);

/** sxs_table_rows - return the number of runtimes in the session, listed and unlisted. */
size_t sxs_table_rows(const struct sxs_session *s);

#endif
