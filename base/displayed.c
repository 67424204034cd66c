/* SPDX-License-Identifier: MIT */
#include "base/displayed.h"

#include <string.h>

SXS_SIGSAFE size_t sxs_utf8_next(const char *text, size_t size, uint32_t *c)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char  *s = (const unsigned char *)text;
    if (!size)
        return 0;
    size_t   len = s[0] < 0x80       ? 1
                   : s[0] >> 5 == 6  ? 2
                   : s[0] >> 4 == 14 ? 3
                   : s[0] >> 3 == 30 ? 4
                                     : 0;
    uint32_t v = len == 1 ? s[0] : s[0] & (0x7fu >> len);
    if (!len || len > size)
        return 0;
    for (size_t i = 1; i < len; i++) {
        if (s[i] >> 6 != 2)
            return 0;
        v = v << 6 | (s[i] & 0x3f);
    }
    *c = v;
    return v < least[len] || v > 0x10ffff ? 0 : len;
}

/* Characters without an image of their own, in ascending order: Default_Ignorable_Code_Point of
 * Unicode 15, the separators of lines and paragraphs, and the marks of annotations. */
static const struct hidden_range {
    uint32_t first, last;
} hidden[] = {
    {0x00ad, 0x00ad},   {0x034f, 0x034f},   {0x061c, 0x061c}, {0x115f, 0x1160}, {0x17b4, 0x17b5},
    {0x180b, 0x180f},   {0x200b, 0x200f},   {0x2028, 0x202e}, {0x2060, 0x206f}, {0x3164, 0x3164},
    {0xfe00, 0xfe0f},   {0xfeff, 0xfeff},   {0xffa0, 0xffa0}, {0xfff0, 0xfffb}, {0x1bca0, 0x1bca3},
    {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff},
};

SXS_SIGSAFE int sxs_is_displayed(uint32_t c)
{
    if (c < 0xad)
        return !sxs_is_control(c);
    if (sxs_utf16_is_half(c))
        return 0;
    for (size_t i = 0; i < ARRAY_LEN(hidden) && hidden[i].first <= c; i++)
        if (c <= hidden[i].last)
            return 0;
    return 1;
}

SXS_SIGSAFE size_t sxs_displayed_len(const char *text, size_t size)
{
    size_t at = 0;
    while (at < size) {
        uint32_t c = (unsigned char)text[at];
        size_t   len = c < 0x80 ? 1 : sxs_utf8_next(text + at, size - at, &c);
        if (!len || !sxs_is_displayed(c))
            break;
        at += len;
    }
    return at;
}

SXS_SIGSAFE size_t sxs_displayed_clean(char *text, size_t size)
{
    size_t used = 0;
    for (size_t at = 0; at < size;) {
        uint32_t c = 0;
        size_t   len = sxs_utf8_next(text + at, size - at, &c);
        int      keep = len && sxs_is_displayed(c);
        for (size_t i = 0; keep && i < len; i++)
            text[used + i] = text[at + i];
        if (!keep)
            text[used] = '?';
        used += keep ? len : 1;
        at += len ? len : 1;
    }
    return used;
}
