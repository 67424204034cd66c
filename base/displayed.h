/* SPDX-License-Identifier: MIT */
/**
 * displayed.h - which characters of a text from elsewhere may be written to a terminal or to a line
 * of a log. Names, paths, command lines and messages of other programs can have any bytes: escape
 * sequences, line feeds that forge a line, marks that reverse or hide what stands beside them.
 * Pure functions, async-signal-safe.
 */
#ifndef SXS_BASE_DISPLAYED_H
#define SXS_BASE_DISPLAYED_H

#include <stddef.h>
#include <stdint.h>

#include "base/base.h"

/** sxs_utf8_next - read the character at @text, which has @size bytes; it need not end with a zero.
 *  Returns the length of the character in bytes, 1 to 4, or 0 if there is none: the bytes are cut
 *  off, overlong, or not UTF-8. A surrogate in three bytes is read, too; callers that must refuse
 *  it ask sxs_utf16_is_half(). */
SXS_SIGSAFE size_t sxs_utf8_next(const char *text, size_t size, uint32_t *c);

/** sxs_utf16_is_half - return 1 if @c is a surrogate, that is half of a pair and not a
 *  character. */
SXS_SIGSAFE static inline int sxs_utf16_is_half(uint32_t c)
{
    return c >= 0xd800 && c < 0xe000;
}

/** sxs_is_control - return 1 if @c is a control character of ASCII or Latin-1. */
SXS_SIGSAFE static inline int sxs_is_control(uint32_t c)
{
    return c < 0x20 || (c >= 0x7f && c < 0xa0);
}

/** sxs_is_displayed - return 1 if @c has an image of its own (or is a blank) and changes nothing
 *  else on the screen. Returns 0 for control characters, surrogates, separators of lines and
 *  paragraphs, marks of the direction of writing, and characters without a width (Unicode's
 *  Default_Ignorable_Code_Point), with which two different names look the same. */
SXS_SIGSAFE int sxs_is_displayed(uint32_t c);

/** sxs_displayed_len - return how many of the @size bytes at @text can be written as they are: up to
 *  the first character that is not displayed, or the first byte that is not UTF-8. */
SXS_SIGSAFE size_t sxs_displayed_len(const char *text, size_t size);

/** sxs_displayed_clean - replace in place what is not displayed: each such character, and each byte
 *  that is not UTF-8, becomes '?'. No zero is expected or written.
 *  Returns the new size in bytes, at most @size. */
SXS_SIGSAFE size_t sxs_displayed_clean(char *text, size_t size);

#endif
