/* SPDX-License-Identifier: MIT */
/** wild.h - names as patterns with wildcards have them. */
#ifndef SXS_BASE_WILD_H
#define SXS_BASE_WILD_H

/**
 * sxs_wild_fits - does all of @text fit @pattern, in which '*' is any text and '?' one character of
 * UTF-8? Returns 1 or 0. Linear but for the last star, to which it goes back: no text makes it slow
 * beyond the product of both.
 */
static inline int sxs_wild_fits(const char *pattern, const char *text)
{
    const char *star = 0, *back = 0;
    while (*text) {
        if (*pattern == '*') {
            star = ++pattern;
            back = text;
        } else if (*pattern == '?' || *pattern == *text) {
            pattern++;
            do /* a character may be several bytes */
                text++;
            while (pattern[-1] == '?' && ((unsigned char)*text & 0xc0) == 0x80);
        } else if (star) {
            pattern = star;
            text = ++back;
        } else {
            return 0;
        }
    }
    while (*pattern == '*')
        pattern++;
    return !*pattern;
}

#endif
