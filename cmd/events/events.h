/* SPDX-License-Identifier: MIT */
/**
 * events.h - reports of exceptions and of what runtimes were busy with, for the command.
 *
 * A session is loaded once: every process that has a file "events".
 */
#ifndef SXS_REPORT_EVENTS_EVENTS_H
#define SXS_REPORT_EVENTS_EVENTS_H

#include <stdio.h>

#include <jansson.h>

#include "session/read/events_read.h"
#include "session/read/session_read.h"

/** One process's. */
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
 * sxs_events_report_load - the events of every process of @session, which lies in @dir.
 * @process: a process's folder or pid; NULL: all. @out: overwritten; sxs_events_report_free().
 * Returns 0 or an errno value. None found: n is 0.
 */
int  sxs_events_report_load(const char *dir, const struct sxs_session *session,
                            const char *process, struct sxs_events_report *out);
void sxs_events_report_free(struct sxs_events_report *r);

/** Exceptions by count, then what runtimes were busy with. @top: rows of each table; 0: 30. */
void sxs_events_text(FILE *to, const struct sxs_events_report *r, size_t top);

/** Adds the keys "exceptions" and "events" to @top, of the tools that were on. Returns 0, or -1
 *  without memory. */
int sxs_events_json(json_t *top, const struct sxs_events_report *r);

#endif
