/* SPDX-License-Identifier: MIT */
/** text_internal.h - one line being put together, in storage of the caller's. */
#ifndef SXS_TEXT_INTERNAL_H
#define SXS_TEXT_INTERNAL_H

#include <stddef.h>
#include <stdint.h>

/** Always terminated. What does not fit is dropped, and the text ends with "..." */
struct sxs_text {
    char  *bytes; /* borrowed, cap bytes */
    size_t len, cap;
    int    cut;
};

/** An empty text in @bytes, which has room for @cap (at least 4). */
struct sxs_text sxs_text_in(char *bytes, size_t cap);
void sxs_text_put(struct sxs_text *text, const char *s);
void sxs_text_putf(struct sxs_text *text, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/** As put, for a name that others chose: control characters become '?': a line stays one. */
void sxs_text_put_name(struct sxs_text *text, const char *s);
/** @len UTF-16 units, or up to a zero; ill-formed ones become U+FFFD; else as put_name. */
void sxs_text_put_utf16(struct sxs_text *text, const uint16_t *s, size_t len);

#endif
