/* SPDX-License-Identifier: MIT */
#include "rewrite/utf16.h"

static size_t put(char *out, uint32_t c)
{
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        out[0] = (char)(0xc0 | c >> 6);
        out[1] = (char)(0x80 | (c & 63));
        return 2;
    }
    if (c < 0x10000) {
        out[0] = (char)(0xe0 | c >> 12);
        out[1] = (char)(0x80 | (c >> 6 & 63));
        out[2] = (char)(0x80 | (c & 63));
        return 3;
    }
    out[0] = (char)(0xf0 | c >> 18);
    out[1] = (char)(0x80 | (c >> 12 & 63));
    out[2] = (char)(0x80 | (c >> 6 & 63));
    out[3] = (char)(0x80 | (c & 63));
    return 4;
}

size_t sxs_utf8_of(const uint16_t *wide, size_t n, char *out, size_t size)
{
    size_t at = 0;
    for (size_t i = 0; i < n && wide[i] && at + 5 <= size; i++) {
        uint32_t c = wide[i];
        if (c >= 0xd800 && c < 0xdc00 && i + 1 < n && (wide[i + 1] & 0xfc00) == 0xdc00)
            c = 0x10000 + ((c - 0xd800) << 10) + (wide[++i] - 0xdc00u);
        at += put(out + at, c);
    }
    out[at] = '\0';
    return at;
}

/* One character; NULL: not UTF-8. */
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
