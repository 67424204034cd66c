/* SPDX-License-Identifier: MIT */
/** text_waits.h - the section of the text report about what threads waited for. */
#ifndef SXS_CMD_REPORT_TEXT_WAITS_H
#define SXS_CMD_REPORT_TEXT_WAITS_H

#include "cmd/report/model.h"

/**
 * sxs_text_waits - write the reasons of the samples of @m, which is of SXS_DATA_WAIT, and below each
 * one the functions of the program's own code in which threads waited for it, at most @top. */
void sxs_text_waits(const struct sxs_model *m, size_t top, FILE *to);

#endif
