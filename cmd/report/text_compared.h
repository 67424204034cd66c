/* SPDX-License-Identifier: MIT */
/**
 * text_compared.h - the section of the text report about the comparisons of the walker "snapshot".
 */
#ifndef SXS_CMD_REPORT_TEXT_COMPARED_H
#define SXS_CMD_REPORT_TEXT_COMPARED_H

#include "cmd/report/model.h"

/**
 * sxs_text_compared - write how many stacks were compared and the results, in a few lines; nothing
 * when another walker was used.
 */
void sxs_text_compared(const struct sxs_samples_header *head, FILE *to);

/**
 * sxs_text_differences - write the stacks that differ, frame by frame, at most @top of them;
 * nothing when there are none.
 */
void sxs_text_differences(const struct sxs_model *m, size_t top, FILE *to);

#endif
