/* SPDX-License-Identifier: MIT */
/** line.h - the text of values: a text buffer, and values in the syntax of C#. */
#ifndef SXS_VALUES_LINE_H
#define SXS_VALUES_LINE_H

#include <stddef.h>
#include <stdint.h>

#include "base/text/buffer.h"

struct sxs_memory;

/** The text of values, and memory to copy values to while they are shown. */
struct sxs_line {
    struct sxs_text text;
    unsigned char  *spare; /* borrowed, n_spare bytes: for copies of the values (values/show.h) */
    size_t          n_spare;
    const struct sxs_memory *memory; /* borrowed: where objects are read (values/memory.h); NULL:
                                      * at their addresses */
};

/** sxs_line_in - return an empty line that uses @text, which has @cap (at least 8) bytes. */
static inline struct sxs_line sxs_line_in(char *text, size_t cap)
{
    return (struct sxs_line){.text = sxs_text_in(text, cap)};
}

/** sxs_line_put, sxs_line_putf - append a string, or formatted text; all of it or nothing. */
#define sxs_line_put(line, s)    sxs_text_put(&(line)->text, s)
#define sxs_line_putf(line, ...) sxs_text_putf(&(line)->text, __VA_ARGS__)
/** sxs_line_char - append the code point @c as UTF-8, escaped as in C#. @quote is escaped, too. */
void sxs_line_char(struct sxs_line *line, uint32_t c, char quote);
/** sxs_line_string - append @n UTF-16 units in double quotes. @total: length of the whole string;
 *  if it is more than @n, it is appended: "abc"...[1000]. With a mask (base/mask.h) only the length
 *  is, or nothing. */
void sxs_line_string(struct sxs_line *line, const uint16_t *units, size_t n, size_t total);

/** sxs_line_utf8 - convert UTF-16, up to a zero or @n units, to UTF-8 in @out. Control characters
 *  become '?'. Returns the length. */
size_t sxs_line_utf8(const uint16_t *units, size_t n, char *out, size_t size);

#endif
