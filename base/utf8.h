/* SPDX-License-Identifier: MIT */
/** utf8.h - convert UTF-16, the encoding that runtimes use, to UTF-8. Pure functions,
 *  async-signal-safe. Control characters and lone surrogates are not replaced; the caller decides
 *  how to write them. */
#ifndef SXS_BASE_UTF8_H
#define SXS_BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

#include "base/base.h"

/** sxs_utf8_put - write the character @c as UTF-8 to @out, without a terminating zero.
 *  Returns the length in bytes, 1 to 4. A surrogate is written like other characters of its size,
 *  as three bytes, which strict readers reject. */
SXS_SIGSAFE size_t sxs_utf8_put(char out[4], uint32_t c);

/** sxs_utf16_next - read the character at units[*at], which has two units if they are a surrogate
 *  pair.
 *  @n:  number of units.
 *  @at: index of the first unit, below @n; is moved behind the character.
 *  Returns the character. A lone surrogate is returned unchanged. */
SXS_SIGSAFE uint32_t sxs_utf16_next(const uint16_t *units, size_t n, size_t *at);

/** sxs_utf16_is_half - return 1 if @c is a surrogate, that is half of a pair and not a
 *  character. */
static inline int sxs_utf16_is_half(uint32_t c)
{
    return c >= 0xd800 && c < 0xe000;
}

/** sxs_utf8_of - convert @wide to UTF-8 with a terminating zero.
 *  @wide: ends at a zero or after @n units.
 *  @out:  receives the text; has room for @size bytes, at least 1. The text is cut between two
 *         characters when fewer than 5 bytes are left.
 *  Returns the length in bytes without the zero. */
SXS_SIGSAFE size_t sxs_utf8_of(const uint16_t *wide, size_t n, char *out, size_t size);

#endif
