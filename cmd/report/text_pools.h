/* SPDX-License-Identifier: MIT */
/** text_pools.h - thread pools in the text report. */
#ifndef SXS_CMD_REPORT_TEXT_POOLS_H
#define SXS_CMD_REPORT_TEXT_POOLS_H

#include "cmd/report/model.h"

#include <stdio.h>

/** sxs_text_pools - write for each runtime's thread pool the most threads, the longest queue, and how
 *  often it was starved. Writes nothing when no pool was recorded. */
void sxs_text_pools(const struct sxs_model *m, FILE *to);

#endif
