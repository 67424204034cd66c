/* SPDX-License-Identifier: MIT */
/** format.h - interface of a report format: a name and a function that writes a model. */
#ifndef SXS_CMD_REPORT_FORMAT_H
#define SXS_CMD_REPORT_FORMAT_H

#include "cmd/output/missing.h"
#include "cmd/report/model.h"

#include <stdio.h>

struct sxs_profile_format {
    const char *name;
    unsigned    detail; /* enum sxs_model_detail: the data that the format needs */
    /** Writes @m to @to. Returns 0 or -1; the caller checks @to for write errors (ferror). */
    int (*write)(const struct sxs_model *m, const struct sxs_report_options *o, FILE *to);
};

/** SXS_PROFILE_FORMATS - the one list of the formats, in the order of help and messages: FIRST(name), then X(name) for
 *  each other one. The format of a row is sxs_format_NAME, which the file format_NAME.c defines. */
#define SXS_PROFILE_FORMATS(FIRST, X) \
    FIRST(text) X(html) X(svg) X(collapsed) X(speedscope) X(pprof) X(chrome) X(firefox)

#define SXS_FORMAT_DECLARED(name) extern const struct sxs_profile_format sxs_format_##name;
SXS_PROFILE_FORMATS(SXS_FORMAT_DECLARED, SXS_FORMAT_DECLARED)
#undef SXS_FORMAT_DECLARED

/** SXS_REPORT_FORMATS - the values of --format of sxsprof report: these formats, and json, which has no format of its
 *  own: "text|json|html|...". A string literal. */
#define SXS_FORMAT_AND_JSON(name)  #name "|json"
#define SXS_FORMAT_AFTER_BAR(name) "|" #name
#define SXS_REPORT_FORMATS         SXS_PROFILE_FORMATS(SXS_FORMAT_AND_JSON, SXS_FORMAT_AFTER_BAR)

/**
 * sxs_format_html_diff - write the page of sxs_profile_diff(): @now, coloured by its difference to
 * @before. @names, @missing: of both, for its first lines; @missing: NULL: nothing. Returns 0.
 */
int sxs_format_html_diff(const struct sxs_model *before, const struct sxs_model *now,
                         const char *const names[2], const struct sxs_missing missing[2], FILE *to);

/**
 * sxs_format_text_diff - write the text of sxs_profile_diff(): what changed from @before to @now, the largest
 * changes first. @names, @missing: of both, for its first lines. @o: uses top. Returns 0.
 */
int sxs_format_text_diff(const struct sxs_model *before, const struct sxs_model *now,
                         const char *const names[2], const struct sxs_missing missing[2],
                         const struct sxs_report_options *o, FILE *to);

/**
 * sxs_json_string - write @text as a JSON string with quotes. '<' and '&' are escaped, so that the
 * string can be part of HTML.
 */
void sxs_json_string(FILE *to, const char *text);

/**
 * sxs_html_number - write @n in the digits of the page's data, which cmd/report/format_html.c
 * describes.
 */
void sxs_html_number(FILE *to, uint64_t n);

/**
 * sxs_html_missing - write lines of the list of what is missing, for the first lines of a page.
 * @missing: NULL: nothing. @when: "before", "now" or "". @n: how many lines the list has so far; is counted up.
 */
void sxs_html_missing(const struct sxs_missing *missing, const char *when, size_t *n, FILE *to);

/**
 * sxs_model_title - return the command of the first process, or "sxsprof" when it is not known.
 * Borrowed.
 */
const char *sxs_model_title(const struct sxs_model *m);

#endif
