/* SPDX-License-Identifier: MIT */
/** text_costs.h - the text report of costs: allocations, native memory, waits for locks. */
#ifndef SXS_CMD_REPORT_TEXT_COSTS_H
#define SXS_CMD_REPORT_TEXT_COSTS_H

#include "cmd/report/model.h"

/** sxs_text_costs - write totals, types, call sites and functions of @m, whose `costs` is not NULL. */
void sxs_text_costs(const struct sxs_model *m, const struct sxs_report_options *o, FILE *to);

#endif
