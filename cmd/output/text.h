/* SPDX-License-Identifier: MIT */
/**
 * text.h - make text from files and environments fit to print.
 */
#ifndef SXS_REPORT_TEXT_H
#define SXS_REPORT_TEXT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/**
 * sxs_text_clean - copy @in as valid UTF-8 that moves no terminal.
 * Control characters become '?', bytes that are not UTF-8 become U+FFFD. @out holds @size bytes
 * and always ends with a zero; text is cut between characters. Any thread; not for @in == @out.
 */
void sxs_text_clean(const char *in, char *out, size_t size);

/** sxs_text_cut - shorten clean UTF-8 @s in place to @columns characters, "..." at its end. */
void sxs_text_cut(char *s, size_t columns);

/** sxs_text_columns - the terminal width of @to; COLUMNS or 80 when it is not a terminal. */
size_t sxs_text_columns(FILE *to);

/** sxs_text_duration - "1.50 s", "2.00 ms", "7.25 us", "12 ns", or "-" for 0, which is what was not
 *  timed. Into @buf of @size bytes; returns @buf. */
const char *sxs_text_duration(uint64_t ns, char *buf, size_t size);

#endif
