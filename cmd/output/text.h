/* SPDX-License-Identifier: MIT */
/** text.h - make text from files and the environment safe to print. */
#ifndef SXS_CMD_OUTPUT_TEXT_H
#define SXS_CMD_OUTPUT_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/**
 * sxs_text_clean - copy a string as valid UTF-8 that cannot control a terminal.
 * @in: zero-terminated. @out: holds @size bytes; must not overlap @in. Always zero-terminated; a
 * text that is too long is cut between two characters.
 * What is not displayed (base/displayed.h: controls, marks of direction, characters without width)
 * becomes '?', bytes that are not UTF-8 become U+FFFD.
 * Any thread.
 */
void sxs_text_clean(const char *in, char *out, size_t size);

/**
 * sxs_text_cut - shorten @s in place to @columns characters; "..." replaces the end.
 * @s: clean UTF-8.
 */
void sxs_text_cut(char *s, size_t columns);

/** sxs_text_width - return how many characters clean UTF-8 has. */
size_t sxs_text_width(const char *s);

/** sxs_text_ends - return whether the last characters of @s, maybe all, are @end. */
bool sxs_text_ends(const char *s, const char *end);

/**
 * sxs_text_columns - return the width of the terminal @to; when @to is not a terminal, return
 * COLUMNS from the environment or 80.
 */
size_t sxs_text_columns(FILE *to);

/**
 * sxs_text_duration - format @ns as "1.50 s", "2.00 ms", "7.25 us" or "12 ns"; from two hours on as
 * "2.5 h", from two days on as "366.0 d".
 * A duration of 0 means that nothing was timed; the text is "-".
 * @buf: receives the text; holds @size bytes. Returns @buf.
 */
const char *sxs_text_duration(uint64_t ns, char *buf, size_t size);

/**
 * sxs_text_bytes - format a number of bytes as "512 B", "1.50 KiB", "48.20 MiB"... Every text, table and
 * page has this form (cmd/page/numbers.js has the same function), so that readers find the same number everywhere.
 * @bytes: may be a fraction, as rates are, and negative. @buf: receives the text; 16 bytes are enough for
 * less than 2^63 bytes. Returns @buf. SXS_BYTES() has a buffer of its own, which lives until the end of its
 * block.
 */
const char *sxs_text_bytes(double bytes, char *buf, size_t size);
#define SXS_BYTES(bytes) sxs_text_bytes((double)(bytes), (char[24]){""}, 24)

/** sxs_text_bytes_unit - return how many bytes a unit has that sxs_text_bytes() writes, up to the third power of 1024;
 *  0 when @text, @len bytes, is none. */
uint64_t sxs_text_bytes_unit(const char *text, size_t len);

/**
 * sxs_text_count - format a number with what it counts: "1 thread", "2 threads", "3 processes", "4
 * entries".
 * @one: the noun for one of them, maybe with words before it. @buf: receives the text; holds @size
 * bytes. Returns @buf. SXS_COUNT() has a buffer of its own, which lives until the end of its block.
 */
const char *sxs_text_count(uint64_t n, const char *one, char *buf, size_t size);
#define SXS_COUNT(n, one) sxs_text_count((n), (one), (char[96]){""}, 96)

#endif
