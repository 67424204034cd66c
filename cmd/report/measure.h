/* SPDX-License-Identifier: MIT */
/**
 * measure.h - what functions use by the data of a session, and how sure that is, for conditions (condition.h).
 *
 * Which interval a value has:
 *   samples    a share of n samples has the interval of Wilson. Samples that stand for different times count as fewer:
 *              n is (sum of times)^2 / (sum of squares of times). Time that no sample stands for, and samples without a
 *              stack, may belong to any function, and widen the interval; for total() also stacks that were cut
 *   costs      that of their sums (cmd/costs/sums.h). A share is bounded by the lowest sum beside the highest of all
 *              other costs, and the other way round
 *   calls, exceptions  are counted: no interval, but as many more as were lost
 *
 * One thread at a time; not signal-safe.
 */
#ifndef SXS_CMD_REPORT_MEASURE_H
#define SXS_CMD_REPORT_MEASURE_H

#include "cmd/calls/calls.h"
#include "cmd/events/events.h"
#include "cmd/report/condition.h"
#include "cmd/report/model.h"

/**
 * sxs_condition_units - return true when data of this kind can be measured in the unit of a condition.
 * @data: SXS_DATA_ANY for exceptions. @by_count: as in struct sxs_report_options.
 */
bool sxs_condition_units(const struct sxs_condition *c, enum sxs_data data, bool by_count);

/**
 * sxs_measure_model - measure what a condition is about in a model of samples, costs or calls.
 * @m: loaded with options->errors. @calls: from which @m was made; NULL for other data than calls. @o: the options of
 * @m; `missing` says what the session lacks.
 * @out: receives the values. @n_functions: receives the number of functions that fit the pattern.
 * @why: receives, when there is no value, one sentence that says why; holds @size bytes.
 * Returns 0, or -ENODATA: nothing was recorded, or what is missing could be anything.
 */
int sxs_measure_model(const struct sxs_condition *c, const struct sxs_model *m,
                      const struct sxs_calls_report *calls, const struct sxs_report_options *o,
                      struct sxs_measured *out, size_t *n_functions, char *why, size_t size);

/**
 * sxs_measure_exceptions - measure, likewise, how many exceptions were thrown by functions. Only self() can be measured.
 * @o: uses runtime, thread, trace and only, besides `missing`. @r: loaded from the processes and the period of @o.
 */
int sxs_measure_exceptions(const struct sxs_condition *c, const struct sxs_events_report *r,
                           const struct sxs_report_options *o, struct sxs_measured *out,
                           size_t *n_functions, char *why, size_t size);

#endif
