/* SPDX-License-Identifier: MIT */
/**
 * format.h - what a report format is: a name and a function that writes a model.
 */
#ifndef SXS_REPORT_PROFILE_FORMAT_H
#define SXS_REPORT_PROFILE_FORMAT_H

#include "cmd/report/model.h"

#include <stdio.h>

struct sxs_profile_format {
    const char *name;
    unsigned    detail; /* enum sxs_model_detail: what it needs */
    /** Writes @m. Returns 0 or -1; failures of @to itself are the caller's to notice (ferror). */
    int (*write)(const struct sxs_model *m, const struct sxs_report_options *o, FILE *to);
};

extern const struct sxs_profile_format sxs_format_text, sxs_format_collapsed,
    sxs_format_speedscope, sxs_format_pprof, sxs_format_chrome, sxs_format_firefox,
    sxs_format_html;

/** sxs_format_html_diff - the page of sxs_profile_diff(): @now coloured against @before. */
int sxs_format_html_diff(const struct sxs_model *before, const struct sxs_model *now, FILE *to);

/** sxs_json_string - @text as a JSON string with its quotes; '<' escaped, so it may stand in HTML. */
void sxs_json_string(FILE *to, const char *text);

/** sxs_html_number - @n in the digits of the page's data: format_html.c tells them. */
void sxs_html_number(FILE *to, uint64_t n);

/** sxs_model_title - what was recorded: the first process's command, or the session. Borrowed. */
const char *sxs_model_title(const struct sxs_model *m);

#endif
