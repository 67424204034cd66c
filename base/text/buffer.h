/* SPDX-License-Identifier: MIT */
/** base/text/buffer.h - a text buffer: builds a text in memory of the caller. */
#ifndef SXS_BASE_TEXT_BUFFER_H
#define SXS_BASE_TEXT_BUFFER_H

#include <stddef.h>
#include <stdint.h>

/** A text buffer. Its text always ends with a zero, unless `cap` is 0. There are two kinds, which
 *  differ in what happens to text that does not fit:
 *  - sxs_text_in(): a piece is appended as a whole or not at all. After the first piece that does
 *    not fit, the text ends with "..." and takes no more.
 *  - sxs_text_counted(): the text is cut off where the memory ends, and its whole length is counted,
 *    as snprintf() does it. */
struct sxs_text {
    char  *bytes; /* borrowed */
    size_t cap,
        len;     /* size of `bytes`; length of the text, also of what was cut off a counted one */
    int cut;     /* 1: text was dropped */
    int counted; /* 1: of the second kind */
};

/** sxs_text_in - an empty text in @bytes, which has room for @cap bytes (at least 4). */
struct sxs_text sxs_text_in(char *bytes, size_t cap);
/** sxs_text_counted - an empty text in @bytes, which has room for @cap bytes (perhaps 0). */
struct sxs_text sxs_text_counted(char *bytes, size_t cap);

/** sxs_text_put, sxs_text_put_bytes, sxs_text_putf - append a piece: a string, @size bytes, or
 *  formatted text. */
void sxs_text_put(struct sxs_text *text, const char *s);
void sxs_text_put_bytes(struct sxs_text *text, const char *bytes, size_t size);
void sxs_text_putf(struct sxs_text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** sxs_text_put_name - append a name from outside, one character after the other. What a terminal
 *  does not show (base/displayed.h), and bytes that are not UTF-8, become '?', so that the text stays
 *  one line. */
void sxs_text_put_name(struct sxs_text *text, const char *s);

/** sxs_text_put_utf16 - append @n UTF-16 units, or up to a zero unit. Control characters are
 *  replaced by '?', lone surrogates by U+FFFD. */
void sxs_text_put_utf16(struct sxs_text *text, const uint16_t *units, size_t n);

#endif
