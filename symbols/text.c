/* SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text/utf8.h"
#include "symbols/text_internal.h"

struct sxs_text sxs_text_in(char *bytes, size_t cap)
{
    bytes[0] = '\0';
    return (struct sxs_text){ .bytes = bytes, .cap = cap };
}

/** Appends @s completely or not at all, so that no UTF-8 sequence is split. */
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

void sxs_text_put_name(struct sxs_text *text, const char *s)
{
    for (; *s; s++) {
        unsigned char c = (unsigned char)*s;
        put_bytes(text, c < 0x20 || c == 0x7F ? "?" : s, 1);
    }
}

void sxs_text_put_utf16(struct sxs_text *text, const uint16_t *s, size_t len)
{
    for (size_t i = 0; i < len && s[i];) {
        char     bytes[4];
        uint32_t c = sxs_utf16_next(s, len, &i);
        if (sxs_is_control(c))
            c = '?';
        put_bytes(text, bytes, sxs_utf8_put(bytes, sxs_utf16_is_half(c) ? 0xFFFD : c));
    }
}
