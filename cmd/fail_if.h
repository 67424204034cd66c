/* SPDX-License-Identifier: MIT */
/**
 * fail_if.h - the conditions of sxsprof report --fail-if: parses, measures and decides them. cmd/report/condition.h
 * describes what they are, cmd/report/measure.h how sure a value is.
 *
 * A zeroed object has no conditions. One thread; not signal-safe.
 */
#ifndef SXS_CMD_FAIL_IF_H
#define SXS_CMD_FAIL_IF_H

#include <argp.h>

#include "cmd/report/measure.h"

struct sxs_fail_if {
    struct sxs_condition     *all; /* owned */
    size_t                    n;
    enum sxs_data             data;    /* what is measured; SXS_DATA_ANY: exceptions */
    struct sxs_report_options options; /* how it is loaded */
    struct sxs_model          model;
    struct sxs_model_loading *loading; /* of the model; NULL: it has no samples or costs */
    struct sxs_calls_report   calls;
    struct sxs_events_report  events;
    bool                      begun; /* the session is being read */
};

/** sxs_fail_if_add - add the condition @text, which is not kept. A wrong one is a usage error, which ends the command. */
void sxs_fail_if_add(struct argp_state *state, struct sxs_fail_if *f, const char *text);

/** sxs_fail_if_check - refuse units that the data of --data do not have, as above. Call it when all options are known.
 *  @o: uses `data` and `by_count`. */
void sxs_fail_if_check(struct argp_state *state, const struct sxs_fail_if *f,
                       const struct sxs_report_options *o);

/**
 * sxs_fail_if_begin - prepare to read what the conditions are about.
 * @v, @o: must outlive the reading. @reader: receives a reader for sxs_opened_read().
 * Returns false when there are no conditions: then there is no reader.
 */
bool sxs_fail_if_begin(struct sxs_fail_if *f, const struct sxs_opened *v,
                       const struct sxs_report_options *o, struct sxs_opened_reader *reader);

/**
 * sxs_fail_if_end - decide the conditions and print a line on standard error for each that is met, that cannot be
 * decided, or that no function fits. Releases all memory.
 * @v: as above; its files were read. @missing: what the session lacks. @status: of the report.
 * Returns @status; when that is SXS_EXIT_OK or SXS_EXIT_PROBLEM: SXS_EXIT_CONDITION if a condition is met, else
 * SXS_EXIT_UNDECIDED if one cannot be decided.
 */
int sxs_fail_if_end(struct sxs_fail_if *f, const struct sxs_opened *v,
                    const struct sxs_missing *missing, int status);

#endif
