/* SPDX-License-Identifier: MIT */
/** utf16.h - names, from and to the form that metadata has them in. Pure functions. */
#ifndef SXS_REWRITE_UTF16_H
#define SXS_REWRITE_UTF16_H

#include <stddef.h>
#include <stdint.h>

/** sxs_utf8_of - @wide, up to a zero or @n units, as UTF-8, cut at @size. Returns its length. */
size_t sxs_utf8_of(const uint16_t *wide, size_t n, char *out, size_t size);

/** sxs_utf16_of - @text as UTF-16 with a zero, in @cap units. Returns how many before the zero; 0: too long, not
 *  UTF-8, or empty. */
size_t sxs_utf16_of(const char *text, uint16_t *out, size_t cap);

#endif
