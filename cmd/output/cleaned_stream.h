/* SPDX-License-Identifier: MIT */
/** cleaned_stream.h - clean what a library prints to a stream of its own choice. */
#ifndef SXS_CMD_OUTPUT_CLEANED_STREAM_H
#define SXS_CMD_OUTPUT_CLEANED_STREAM_H

#include <stdio.h>

/**
 * sxs_cleaned_stream - return a stream that cleans (print.h) what is printed to it, and prints it to @to at once;
 * NULL: there is no memory. Owned, closed with fclose(); at most one at a time.
 * @name: how messages about arguments begin, before a colon. After the first of them, a line feed counts as the
 * end of a line only where a call of printf() and its like ends with it: others are an argument's. Borrowed.
 */
FILE *sxs_cleaned_stream(FILE *to, const char *name);

#endif
