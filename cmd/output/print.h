/* SPDX-License-Identifier: MIT */
/**
 * print.h - how the command writes text for people: to standard output, to standard error, and to
 * the streams of reports.
 *
 * Nearly every text that the command prints comes from elsewhere: names and command lines of
 * processes, paths, answers of libraries and servers, names of types in a session that a stranger
 * has sent. These functions take formats as printf() does and trust the format alone, which is part
 * of this program. What %s and %c insert is cleaned as by sxs_text_clean(): it has no escape
 * sequence, begins no line, and neither reverses nor hides the text beside it. A caller needs to clean a
 * text itself only to measure or to cut it.
 *
 * No other file writes text: tests/lint/prints.py refuses printf(), puts(), argp_error() and their
 * like in cmd/, except for formats that a program reads, which have escapes of their own; its
 * table names those files.
 */
#ifndef SXS_CMD_OUTPUT_PRINT_H
#define SXS_CMD_OUTPUT_PRINT_H

#include <stdarg.h>
#include <stdio.h>

struct argp_state;

/**
 * sxs_print, sxs_print_to, sxs_vprint_to - print on standard output, or to @to, as printf(),
 * fprintf() and vfprintf() do; %s and %c insert clean text.
 * @fmt: a format of this program, never one from outside. Conversions: d i u x X o c s p f F e E g
 * G a A %, with flags, width, precision and the lengths hh h l ll z t j. A precision of %s counts
 * bytes of the text before it is cleaned, a width bytes of the clean text.
 * One write for each call if @to is not buffered. Errors are kept in the stream. Any thread.
 */
void sxs_print(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void sxs_print_to(FILE *to, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void sxs_vprint_to(FILE *to, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));

/**
 * sxs_print_lines - print @text, which may have line feeds: they are kept, and everything else is
 * cleaned. For texts of several lines that this program has put together; the names in them were
 * cleaned before, so that they begin no line.
 */
void sxs_print_lines(FILE *to, const char *text);

/**
 * sxs_option_error - end the parsing of options with a message, as argp_error() does; %s and %c
 * insert clean text.
 */
void sxs_option_error(const struct argp_state *state, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

#endif
