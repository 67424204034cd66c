/* SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "stackwalk/text_internal.h"

struct sxs_text sxs_text_in(char *bytes, size_t cap)
{
    bytes[0] = '\0';
    return (struct sxs_text){ .bytes = bytes, .cap = cap };
}

/** Whole or not at all, so that no UTF-8 sequence is split. */
static void put_bytes(struct sxs_text *text, const char *s, size_t len)
{
    static const char dots[] = "...";

    if (text->cut)
        return;
    if (len + sizeof(dots) > text->cap - text->len) {
        text->cut = 1;
        s = dots;
        len = sizeof(dots) - 1;
    }
    memcpy(text->bytes + text->len, s, len);
    text->len += len;
    text->bytes[text->len] = '\0';
}

void sxs_text_put(struct sxs_text *text, const char *s)
{
    put_bytes(text, s, strlen(s));
}

void sxs_text_putf(struct sxs_text *text, const char *fmt, ...)
{
    char    line[512];
    va_list args;

    va_start(args, fmt);
    if (vsnprintf(line, sizeof(line), fmt, args) >= 0)
        sxs_text_put(text, line);
    va_end(args);
}

static void put_code_point(struct sxs_text *text, uint32_t c)
{
    char   out[4];
    size_t n = 0;

    if (c < 0x20 || c == 0x7F || (c >= 0x80 && c < 0xA0))
        c = '?';
    if (c < 0x80) {
        out[n++] = (char)c;
    } else if (c < 0x800) {
        out[n++] = (char)(0xC0 | c >> 6);
        out[n++] = (char)(0x80 | (c & 0x3F));
    } else if (c < 0x10000) {
        out[n++] = (char)(0xE0 | c >> 12);
        out[n++] = (char)(0x80 | (c >> 6 & 0x3F));
        out[n++] = (char)(0x80 | (c & 0x3F));
    } else {
        out[n++] = (char)(0xF0 | c >> 18);
        out[n++] = (char)(0x80 | (c >> 12 & 0x3F));
        out[n++] = (char)(0x80 | (c >> 6 & 0x3F));
        out[n++] = (char)(0x80 | (c & 0x3F));
    }
    put_bytes(text, out, n);
}

void sxs_text_put_name(struct sxs_text *text, const char *s)
{
    for (; *s; s++) {
        unsigned char c = (unsigned char)*s;
        put_bytes(text, c < 0x20 || c == 0x7F ? "?" : s, 1);
    }
}

void sxs_text_put_utf16(struct sxs_text *text, const uint16_t *s, size_t len)
{
    for (size_t i = 0; i < len && s[i]; i++) {
        uint32_t c = s[i];
        if (c >= 0xD800 && c < 0xDC00 && i + 1 < len && s[i + 1] >= 0xDC00 && s[i + 1] < 0xE000)
            c = 0x10000 + ((c - 0xD800) << 10) + (s[++i] - 0xDC00u);
        else if (c >= 0xD800 && c < 0xE000)
            c = 0xFFFD;
        put_code_point(text, c);
    }
}
