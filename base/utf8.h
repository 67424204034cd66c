/* SPDX-License-Identifier: MIT */
/** utf8.h - UTF-16, which runtimes speak, as UTF-8. Pure functions, async-signal-safe. What control
 *  characters and lone surrogates become is the caller's affair. */
#ifndef SXS_BASE_UTF8_H
#define SXS_BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

#include "base/base.h"

/** sxs_utf8_put - @c as UTF-8 into @out, not terminated. Returns its length, 1 to 4. A surrogate is
 *  written as any other of its size: three bytes that strict readers refuse. */
SXS_SIGSAFE size_t sxs_utf8_put(char out[4], uint32_t c);

/** sxs_utf16_next - the character at units[*at], of two units if they are a pair; moves *@at behind
 *  it. A lone surrogate is returned as it is. *@at must be below @n. */
SXS_SIGSAFE uint32_t sxs_utf16_next(const uint16_t *units, size_t n, size_t *at);

/** 1: @c is half of a pair, and no character. */
static inline int sxs_utf16_is_half(uint32_t c)
{
    return c >= 0xd800 && c < 0xe000;
}

/** sxs_utf8_of - @wide, up to a zero or @n units, as UTF-8, terminated. Cut between characters, when
 *  fewer than 5 of the @size (at least 1) bytes are left. Returns its length. */
SXS_SIGSAFE size_t sxs_utf8_of(const uint16_t *wide, size_t n, char *out, size_t size);

#endif
