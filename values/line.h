/* SPDX-License-Identifier: MIT */
/** line.h - a value's text being put together, in storage of the caller's. */
#ifndef SXS_VALUES_LINE_H
#define SXS_VALUES_LINE_H

#include <stddef.h>
#include <stdint.h>

/** Always terminated. What does not fit is dropped, and the text ends with "..." */
struct sxs_line {
    char  *text; /* borrowed, cap bytes */
    size_t len, cap;
    int    cut;
    unsigned char *spare; /* borrowed, n_spare bytes: for copies of what is being shown (show.h) */
    size_t         n_spare;
};

/** An empty line in @text, which has room for @cap (at least 8) bytes. */
struct sxs_line sxs_line_in(char *text, size_t cap);
void sxs_line_put(struct sxs_line *line, const char *s);
void sxs_line_putf(struct sxs_line *line, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/** One UTF-16 unit or a pair as UTF-8, escaped as in C#; @quote is escaped as well. */
void sxs_line_char(struct sxs_line *line, uint32_t c, char quote);
/** @n units in quotes; @total, when it is more, is how many there are: "abc"...[1000]. */
void sxs_line_string(struct sxs_line *line, const uint16_t *units, size_t n, size_t total);

/** UTF-16, up to a zero or @n units, as UTF-8 into @out; returns its length. */
size_t sxs_line_utf8(const uint16_t *units, size_t n, char *out, size_t size);

#endif
