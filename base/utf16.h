/* SPDX-License-Identifier: MIT */
/** utf16.h - convert UTF-8 names to UTF-16, as metadata has them (base/utf8.h converts back). Pure
 *  functions. */
#ifndef SXS_BASE_UTF16_H
#define SXS_BASE_UTF16_H

#include <stddef.h>
#include <stdint.h>

#include "base/utf8.h"

/** sxs_utf16_of - convert @text to UTF-16 with a terminating zero.
 *  @out: receives the result; has room for @cap units. 3 units must be free before each character.
 *  Returns the number of units before the zero, or 0 if @text is empty, too long or not UTF-8. */
size_t sxs_utf16_of(const char *text, uint16_t *out, size_t cap);

#endif
