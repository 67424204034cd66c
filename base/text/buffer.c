/* SPDX-License-Identifier: MIT */
#include "base/text/buffer.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text/utf8.h"

static const char dots[] = "...";

struct sxs_text sxs_text_in(char *bytes, size_t cap)
{
    bytes[0] = '\0';
    return (struct sxs_text){.bytes = bytes, .cap = cap};
}

struct sxs_text sxs_text_counted(char *bytes, size_t cap)
{
    if (cap)
        bytes[0] = '\0';
    return (struct sxs_text){.bytes = bytes, .cap = cap, .counted = 1};
}

/* The number of bytes that can be written after the text, with the zero. */
static size_t room(const struct sxs_text *text)
{
    return text->len < text->cap ? text->cap - text->len : 0;
}

/* Ends the text with dots. A piece is appended only if the dots still fit after it, so that only a text
 * of less than four bytes has no room for them. */
static void end_with_dots(struct sxs_text *text)
{
    text->cut = 1;
    if (room(text) < sizeof(dots))
        return;
    memcpy(text->bytes + text->len, dots, sizeof(dots));
    text->len += sizeof(dots) - 1;
}

static void put_counted(struct sxs_text *text, const char *bytes, size_t size)
{
    size_t left = room(text), n = size < left ? size : left ? left - 1 : 0;
    while (n && n < size && !sxs_utf8_begins(bytes[n]))
        n--; /* cut between two characters */
    if (left) {
        memcpy(text->bytes + text->len, bytes, n);
        text->bytes[text->len + n] = '\0';
    }
    text->len += size;
    text->cut |= n < size;
}

void sxs_text_put_bytes(struct sxs_text *text, const char *bytes, size_t size)
{
    if (text->counted) {
        put_counted(text, bytes, size);
    } else if (text->cut) {
        return;
    } else if (size + sizeof(dots) > room(text)) {
        end_with_dots(text);
    } else {
        memcpy(text->bytes + text->len, bytes, size);
        text->len += size;
        text->bytes[text->len] = '\0';
    }
}

void sxs_text_put(struct sxs_text *text, const char *s)
{
    sxs_text_put_bytes(text, s, strlen(s));
}

/* Formats in place, to use little stack. */
void sxs_text_putf(struct sxs_text *text, const char *format, ...)
{
    size_t  left = room(text);
    char   *at = left ? text->bytes + text->len : NULL;
    va_list args;
    int     n;
    if (!text->counted && (text->cut || !at)) {
        text->cut = 1;
        return;
    }
    va_start(args, format);
    n = vsnprintf(at, left, format, args);
    va_end(args);
    if (n < 0)
        n = 0;
    if (text->counted) {
        text->len += (size_t)n;
        text->cut |= (size_t)n >= left;
    } else if ((size_t)n + sizeof(dots) <= left) {
        text->len += (size_t)n;
    } else {
        *at = '\0';
        end_with_dots(text);
    }
}

void sxs_text_put_name(struct sxs_text *text, const char *s)
{
    for (size_t left = strlen(s), len; left; s += len, left -= len) {
        uint32_t c = 0;
        len = sxs_utf8_next(s, left, &c);
        if (len && sxs_is_displayed(c))
            sxs_text_put_bytes(text, s, len);
        else
            sxs_text_put_bytes(text, "?", 1);
        len += !len;
    }
}

void sxs_text_put_utf16(struct sxs_text *text, const uint16_t *units, size_t n)
{
    for (size_t i = 0; i < n && units[i];) {
        char     bytes[4];
        uint32_t c = sxs_utf16_next(units, n, &i);
        if (sxs_is_control(c))
            c = '?';
        sxs_text_put_bytes(text, bytes, sxs_utf8_put(bytes, sxs_utf16_is_half(c) ? 0xfffd : c));
    }
}
