/* SPDX-License-Identifier: MIT */
/**
 * formats.h - the list of all formats of reports, and the file name endings that choose them. Not every
 * report has every format.
 */
#ifndef SXS_CMD_OUTPUT_FORMATS_H
#define SXS_CMD_OUTPUT_FORMATS_H

#include <stdbool.h>

/** sxs_format_of_file - return the format for the ending of @path, such as html for "flame.html"; NULL: none.
 *  Static. */
const char *sxs_format_of_file(const char *path);

/**
 * sxs_format_lacking - tell whether the ending of @path is that of a format that sxsprof does not write,
 * such as "shop.jfr": the user probably expects that format, and not a folder of that name.
 * Returns the ending, in @path; NULL: no.
 */
const char *sxs_format_lacking(const char *path);

/** sxs_format_is_known - return true when a format has the name @name. */
bool sxs_format_is_known(const char *name);

/** sxs_format_is_readable - return true when @format is text for people: it may be written to a terminal. */
bool sxs_format_is_readable(const char *format);

/** sxs_format_names - return "text, json, html...", for messages. Static. */
const char *sxs_format_names(void);

#endif
