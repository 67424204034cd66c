/* SPDX-License-Identifier: MIT */
/**
 * guests.h - load the files "guests" of a session and report the other profilers that ran in it.
 *
 * A session is loaded once, with every process that has a file "guests".
 */
#ifndef SXS_CMD_GUESTS_GUESTS_H
#define SXS_CMD_GUESTS_GUESTS_H

#include <stdio.h>

#include <jansson.h>

#include "cmd/output/opened.h"
#include "session/read/guests_read.h"

/** The guests of one process. */
struct sxs_guests_process {
    const struct sxs_session_process *process; /* borrowed from the session */
    struct sxs_guests_data           *data;    /* owned */
};

struct sxs_guests_report {
    struct sxs_guests_process *processes; /* owned */
    size_t                     n;
    char                     **problems; /* owned lines: "123/guests: ..." */
    size_t                     n_problems;
};

/** Like sxs_events_report_load() and its release function, for the file "guests". */
int sxs_guests_report_load(const struct sxs_opened *v, const char *process,
                           struct sxs_guests_report *out);
/** sxs_guests_report_reader - return a reader for sxs_opened_read() that does the same. */
struct sxs_opened_reader sxs_guests_report_reader(struct sxs_guests_report *out);
void sxs_guests_report_free(struct sxs_guests_report *r);

/** sxs_guests_text - write a row for each guest and runtime. Only of runtime @runtime; 0: of all. */
void sxs_guests_text(FILE *to, const struct sxs_guests_report *r, uint32_t runtime);

/** sxs_guests_summary - write a line for each guest that is not active on a runtime; when all are,
 *  one line with the number of guests. */
void sxs_guests_summary(FILE *to, const struct sxs_guests_report *r);

/** sxs_guests_json - add the key "guests" to @top. Returns 0, or -1 when out of memory. */
int sxs_guests_json(json_t *top, const struct sxs_guests_report *r);

#endif
