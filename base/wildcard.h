/* SPDX-License-Identifier: MIT */
/** base/wildcard.h - match names against patterns with wildcards. */
#ifndef SXS_BASE_WILDCARD_H
#define SXS_BASE_WILDCARD_H

/**
 * sxs_wild_fits - tell whether the whole of @text matches @pattern.
 * @pattern: '*' stands for any text, '?' for one character of UTF-8.
 * Returns 1 if it matches, else 0. A pure function. The search goes back to the last star only, so
 * the time is at most proportional to the product of both lengths.
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
            do /* '?' stands for a whole character, which may be several bytes */
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
