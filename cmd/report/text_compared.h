/* SPDX-License-Identifier: MIT */
/** text_compared.h - the text report's part about what the walker "snapshot" compared. */
#ifndef SXS_REPORT_PROFILE_TEXT_COMPARED_H
#define SXS_REPORT_PROFILE_TEXT_COMPARED_H

#include "cmd/report/model.h"

/** How many stacks were compared and what came of it: a few lines; none if nothing was. */
void sxs_text_compared(const struct sxs_samples_header *head, FILE *to);

/** The stacks that differ, frame by frame, at most @top of them; nothing if there are none. */
void sxs_text_differences(const struct sxs_model *m, size_t top, FILE *to);

#endif
