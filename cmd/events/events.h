/* SPDX-License-Identifier: MIT */
/**
 * events.h - load the files "events" of a session and report exceptions and runtime events.
 *
 * A session is loaded once, with every process that has a file "events".
 */
#ifndef SXS_CMD_EVENTS_EVENTS_H
#define SXS_CMD_EVENTS_EVENTS_H

#include <stdio.h>

#include "cmd/output/opened.h"
#include "session/read/events_read.h"

struct sxs_json_stream;

/** The events of one process. */
struct sxs_events_process {
    const struct sxs_session_process *process; /* borrowed from the session */
    struct sxs_events_data           *data;    /* owned */
};

struct sxs_events_report {
    struct sxs_events_process *processes; /* owned */
    size_t                     n;
    char                     **problems;  /* owned lines: "123/events: ..." */
    size_t                     n_problems;
};

/**
 * sxs_events_report_load - load the file "events" of every process of a session.
 * @v: must outlive @out. @process: a process's folder or pid;
 * NULL loads all processes. @out: overwritten; release it with sxs_events_report_free().
 * Returns 0 or an errno value. When no process has a file "events", the result is 0 and @out->n is
 * 0.
 */
int sxs_events_report_load(const struct sxs_opened *v, const char *process,
                           struct sxs_events_report *out);
/** sxs_events_report_reader - return a reader for sxs_opened_read() that does the same. */
struct sxs_opened_reader sxs_events_report_reader(struct sxs_events_report *out);
void sxs_events_report_free(struct sxs_events_report *r);

/**
 * sxs_events_text - write exceptions by count, then the events of the runtimes, to @to.
 * @top: rows of each table; 0: 30.
 */
void sxs_events_text(FILE *to, const struct sxs_events_report *r, size_t top);

/**
 * sxs_events_json - write the keys "exceptions" and "events" to @to, each if its tool was on.
 * Returns 0, or -1 when out of memory or when the output failed.
 */
int sxs_events_json(struct sxs_json_stream *to, const struct sxs_events_report *r);

#endif
