/* SPDX-License-Identifier: MIT */
/**
 * page_data.h - the page of format html in parts, for a server: the page without data, which asks
 * for them, and one kind of data at a time.
 */
#ifndef SXS_CMD_REPORT_PAGE_DATA_H
#define SXS_CMD_REPORT_PAGE_DATA_H

#include "cmd/report/model.h"

#include <stdio.h>

/** sxs_page_shell - write the page without data to @to. */
void sxs_page_shell(FILE *to);

/**
 * sxs_page_policy - return the directives of a Content-Security-Policy that permit the script and
 * the style of the page, and no others. Static.
 */
const char *sxs_page_policy(void);

/**
 * sxs_page_parts - write which data the page can show of session @v, as items of a JSON list:
 * "samples","alloc" with their quotes.
 * @out: holds @size bytes, at least 128.
 */
void sxs_page_parts(const struct sxs_opened *v, char *out, size_t size);

/**
 * sxs_page_data - write the data of the page, JSON, to standard output.
 * @data: which; SXS_DATA_ANY: the first that the session has. @parts: from sxs_page_parts().
 * Returns false when there was nothing to write. Messages have been printed on standard error.
 */
bool sxs_page_data(const struct sxs_opened *v, enum sxs_data data, const char *parts);

#endif
