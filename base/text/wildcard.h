/* SPDX-License-Identifier: MIT */
/** base/text/wildcard.h - match names against patterns with wildcards. */
#ifndef SXS_BASE_TEXT_WILDCARD_H
#define SXS_BASE_TEXT_WILDCARD_H

#include "base/text/utf8.h"

/**
 * sxs_wildcard_matches - tell whether the whole of @text matches @pattern.
 * @pattern: '*' stands for any text, '?' for one character of UTF-8.
 * Returns 1 if it matches, else 0. A pure function. The search goes back to the last star only, so
 * the time is at most proportional to the product of both lengths.
 */
static inline int sxs_wildcard_matches(const char *pattern, const char *text)
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
            while (pattern[-1] == '?' && !sxs_utf8_begins(*text));
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
