/* SPDX-License-Identifier: MIT */
/**
 * coverage_gaps.h - coverage gaps of recorded calls (cmd/calls/coverage_gaps.h) in the model, for
 * the page.
 */
#ifndef SXS_CMD_REPORT_COVERAGE_GAPS_H
#define SXS_CMD_REPORT_COVERAGE_GAPS_H

#include "cmd/calls/calls.h"
#include "cmd/report/model.h"

/** Maximum number of rows of one kind and runtime in a page. The text report shows 20, JSON all. */
#define SXS_GAP_ROWS_MAX 1000u

/**
 * sxs_model_take_gaps - add the coverage gaps of process @p to @m, restricted to the runtime that
 * @o selects.
 */
void sxs_model_take_gaps(struct sxs_model *m, const struct sxs_calls_process *p,
                         const struct sxs_report_options *o);
/**
 * sxs_model_move_gaps - replace the coverage gaps of @to by those of @from, which has none
 * afterwards.
 */
void sxs_model_move_gaps(struct sxs_model *from, struct sxs_model *to);

/**
 * sxs_model_write_gaps - write the page's key "unseen", if there are coverage gaps:
 * [pid, number of the runtime, its version, why, sum, counted, rows left out, [[name, detail,
 * count]...]]
 */
void sxs_model_write_gaps(const struct sxs_model *m, FILE *to);

#endif
