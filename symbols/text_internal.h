/* SPDX-License-Identifier: MIT */
/** symbols/text_internal.h - a text buffer: builds one line in storage of the caller. */
#ifndef SXS_SYMBOLS_TEXT_INTERNAL_H
#define SXS_SYMBOLS_TEXT_INTERNAL_H

#include <stddef.h>
#include <stdint.h>

/**
 * Always terminated by a zero byte. Text that does not fit is dropped, and the result ends with
 * "...". */
struct sxs_text {
    char  *bytes; /* borrowed, cap bytes */
    size_t len, cap;
    int    cut;
};

/** sxs_text_in - an empty text in @bytes, which has room for @cap bytes (at least 4). */
struct sxs_text sxs_text_in(char *bytes, size_t cap);
void sxs_text_put(struct sxs_text *text, const char *s);
void sxs_text_putf(struct sxs_text *text, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/**
 * sxs_text_put_name - append a name from outside. Control characters are replaced by '?', so
 * that the text stays one line. */
void sxs_text_put_name(struct sxs_text *text, const char *s);
/**
 * sxs_text_put_utf16 - append @len UTF-16 units, or up to a zero unit. Control characters are
 * replaced by '?', invalid surrogates by U+FFFD. */
void sxs_text_put_utf16(struct sxs_text *text, const uint16_t *s, size_t len);

#endif
