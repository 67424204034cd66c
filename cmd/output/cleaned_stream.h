/* SPDX-License-Identifier: MIT */
/** cleaned_stream.h - a stream to pass to a library that prints: its output is cleaned as by print.h. */
#ifndef SXS_CMD_OUTPUT_CLEANED_STREAM_H
#define SXS_CMD_OUTPUT_CLEANED_STREAM_H

#include <stdio.h>

/**
 * sxs_cleaned_stream - return a stream that cleans (print.h) what is printed to it, and prints it to @to at once;
 * NULL: there is no memory. Owned, closed with fclose(); at most one at a time.
 * @name: the text before the colon with which messages about arguments begin. After the first such message, a
 * line feed ends a line only if it is the last character of a call of printf() or a similar function; other line
 * feeds are part of an argument. Borrowed.
 */
FILE *sxs_cleaned_stream(FILE *to, const char *name);

#endif
