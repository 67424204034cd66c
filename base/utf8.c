/* SPDX-License-Identifier: MIT */
#include "base/utf8.h"

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
