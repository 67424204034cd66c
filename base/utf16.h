/* SPDX-License-Identifier: MIT */
/** utf16.h - names, from (utf8.h) and to the form that metadata has them in. Pure functions. */
#ifndef SXS_REWRITE_UTF16_H
#define SXS_REWRITE_UTF16_H

#include <stddef.h>
#include <stdint.h>

#include "base/utf8.h"

/** sxs_utf16_of - @text as UTF-16 with a zero, in @cap units. Returns how many before the zero; 0: too long, not
 *  UTF-8, or empty. */
size_t sxs_utf16_of(const char *text, uint16_t *out, size_t cap);

#endif
