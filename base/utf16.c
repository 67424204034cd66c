/* SPDX-License-Identifier: MIT */
#include "base/utf16.h"

/* Decodes the character at @at into @c. Returns the address behind it, or NULL if the bytes are not
 * UTF-8. */
static const char *get(const char *at, uint32_t *c)
{
    unsigned char first = (unsigned char)*at++;
    unsigned      more = first < 0x80 ? 0 : first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;
    if (first >= 0xf8 || (first >= 0x80 && first < 0xc2))
        return NULL;
    *c = more ? first & (0x3fu >> more) : first;
    for (; more; more--, at++) {
        if (((unsigned char)*at & 0xc0) != 0x80)
            return NULL;
        *c = *c << 6 | ((unsigned char)*at & 0x3f);
    }
    return at;
}

size_t sxs_utf16_of(const char *text, uint16_t *out, size_t cap)
{
    size_t n = 0;
    while (*text) {
        uint32_t c;
        text = get(text, &c);
        if (!text || n + 3 > cap)
            return 0;
        if (c >= 0x10000) {
            out[n++] = (uint16_t)(0xd800 + ((c - 0x10000) >> 10));
            c = 0xdc00 + (c & 0x3ff);
        }
        out[n++] = (uint16_t)c;
    }
    out[n] = 0;
    return n;
}
