/* SPDX-License-Identifier: MIT */
/** base/text/utf8.h - read, write and convert UTF-8 and UTF-16, the encoding that runtimes use.
 *  Pure functions, async-signal-safe. */
#ifndef SXS_BASE_TEXT_UTF8_H
#define SXS_BASE_TEXT_UTF8_H

#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "base/displayed.h"

/* ---- characters ------------------------------------------------------------------------------ */

/** sxs_utf8_put - write the character @c as UTF-8 to @out, without a terminating zero.
 *  Returns the length in bytes, 1 to 4. A surrogate is written like other characters of its size,
 *  as three bytes, which strict readers reject. */
SXS_SIGSAFE size_t sxs_utf8_put(char out[4], uint32_t c);

/** sxs_utf8_begins - return 1 if @byte begins a character, that is, continues none. */
static inline int sxs_utf8_begins(char byte)
{
    return ((unsigned char)byte & 0xc0) != 0x80;
}

/** sxs_utf16_next - read the character at units[*at], which has two units if they are a surrogate
 *  pair.
 *  @n:  number of units.
 *  @at: index of the first unit, below @n; is moved past the character.
 *  Returns the character. A lone surrogate is returned unchanged. */
SXS_SIGSAFE uint32_t sxs_utf16_next(const uint16_t *units, size_t n, size_t *at);

/** sxs_utf16_put - write the character @c as UTF-16 to @out. Returns the number of units, 1 or 2.
 */
SXS_SIGSAFE size_t sxs_utf16_put(uint16_t out[2], uint32_t c);

/** sxs_utf8_len - return the length in bytes of the character at @text, as sxs_utf8_next() does,
 *  but 0 for a surrogate. */
static inline size_t sxs_utf8_len(const char *text, size_t size)
{
    uint32_t c;
    size_t   len = sxs_utf8_next(text, size, &c);
    return len && sxs_utf16_is_half(c) ? 0 : len;
}

/* ---- texts ----------------------------------------------------------------------------------- */

/** sxs_utf8_of - convert @wide to UTF-8 with a terminating zero. Control characters and lone
 *  surrogates are not replaced.
 *  @wide: ends at a zero or after @n units.
 *  @out:  receives the text; has room for @size bytes, at least 1. The text is cut between two
 *         characters when fewer than 5 bytes are left.
 *  Returns the length in bytes without the zero. */
SXS_SIGSAFE size_t sxs_utf8_of(const uint16_t *wide, size_t n, char *out, size_t size);

/** sxs_utf8_line - convert @n units of @wide to one line of valid UTF-8 with a terminating zero.
 *  @control: replaces control characters. Lone surrogates become U+FFFD.
 *  @out:     receives the text; has room for @size bytes, at least 1. The text is cut between two
 *            characters.
 *  @cut:     receives 1 if not all units fitted, else 0. NULL: not needed.
 *  Returns the length in bytes without the zero. */
SXS_SIGSAFE size_t sxs_utf8_line(const uint16_t *wide, size_t n, char control, char *out,
                                 size_t size, int *cut);

/** sxs_utf16_of - convert @text, a name in UTF-8, to UTF-16 with a terminating zero.
 *  @out: receives the result; has room for @cap units. 3 units must be free before each character.
 *  Returns the number of units before the zero, or 0 if @text is empty, too long or not UTF-8. */
SXS_SIGSAFE size_t sxs_utf16_of(const char *text, uint16_t *out, size_t cap);

/** sxs_utf16_len - the number of units before the first zero in @wide, at most @n. */
SXS_SIGSAFE size_t sxs_utf16_len(const uint16_t *wide, size_t n);

#endif
