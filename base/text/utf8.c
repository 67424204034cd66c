/* SPDX-License-Identifier: MIT */
#include "base/text/utf8.h"

SXS_SIGSAFE size_t sxs_utf8_put(char out[4], uint32_t c)
{
    static const unsigned char first[] = {0, 0, 0xc0, 0xe0, 0xf0};
    size_t                     len = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t i = len - 1; i > 0; i--, c >>= 6)
        out[i] = (char)(0x80 | (c & 0x3f));
    out[0] = (char)(first[len] | c);
    return len;
}

SXS_SIGSAFE uint32_t sxs_utf16_next(const uint16_t *units, size_t n, size_t *at)
{
    uint32_t c = units[(*at)++];
    if ((c & 0xfc00) == 0xd800 && *at < n && (units[*at] & 0xfc00) == 0xdc00)
        c = 0x10000 + ((c & 0x3ff) << 10 | (units[(*at)++] & 0x3ffu));
    return c;
}

SXS_SIGSAFE size_t sxs_utf8_of(const uint16_t *wide, size_t n, char *out, size_t size)
{
    size_t used = 0;
    for (size_t i = 0; i < n && wide[i] && used + 5 <= size;)
        used += sxs_utf8_put(out + used, sxs_utf16_next(wide, n, &i));
    out[used] = '\0';
    return used;
}

SXS_SIGSAFE size_t sxs_utf8_line(const uint16_t *wide, size_t n, char control, char *out,
                                 size_t size, int *cut)
{
    size_t used = 0, i = 0;
    while (i < n) {
        char     bytes[4];
        size_t   after = i, len;
        uint32_t c = sxs_utf16_next(wide, n, &after);
        if (sxs_is_control(c))
            c = (unsigned char)control;
        len = sxs_utf8_put(bytes, sxs_utf16_is_half(c) ? 0xfffd : c);
        if (used + len >= size)
            break;
        for (size_t b = 0; b < len; b++)
            out[used++] = bytes[b];
        i = after;
    }
    out[used] = '\0';
    if (cut)
        *cut = i < n;
    return used;
}

SXS_SIGSAFE size_t sxs_utf16_put(uint16_t out[2], uint32_t c)
{
    if (c < 0x10000) {
        out[0] = (uint16_t)c;
        return 1;
    }
    out[0] = (uint16_t)(0xd800 + ((c - 0x10000) >> 10));
    out[1] = (uint16_t)(0xdc00 + (c & 0x3ff));
    return 2;
}

SXS_SIGSAFE size_t sxs_utf16_of(const char *text, uint16_t *out, size_t cap)
{
    size_t n = 0, left = 0;
    while (text[left])
        left++;
    while (left) {
        uint32_t c;
        size_t   len = sxs_utf8_next(text, left, &c);
        if (!len || n + 3 > cap)
            return 0;
        n += sxs_utf16_put(out + n, c);
        text += len;
        left -= len;
    }
    out[n] = 0;
    return n;
}

SXS_SIGSAFE size_t sxs_utf16_len(const uint16_t *wide, size_t n)
{
    size_t len = 0;
    while (len < n && wide[len])
        len++;
    return len;
}
