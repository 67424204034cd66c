/* SPDX-License-Identifier: MIT */
#include "values/line.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text/utf8.h"

struct sxs_line sxs_line_in(char *text, size_t cap)
{
    text[0] = '\0';
    return (struct sxs_line){.text = text, .cap = cap};
}

static const char dots[] = "...";

static void cut(struct sxs_line *line)
{
    line->cut = 1;
    memcpy(line->text + line->len, dots, sizeof(dots));
    line->len += sizeof(dots) - 1;
}

/* Appends all of @s or nothing, so that no escape or character is split. */
static void put_bytes(struct sxs_line *line, const char *s, size_t len)
{
    if (line->cut)
        return;
    if (len + sizeof(dots) > line->cap - line->len) {
        cut(line);
        return;
    }
    memcpy(line->text + line->len, s, len);
    line->len += len;
    line->text[line->len] = '\0';
}

void sxs_line_put(struct sxs_line *line, const char *s)
{
    put_bytes(line, s, strlen(s));
}

void sxs_line_putf(struct sxs_line *line, const char *fmt, ...)
{
    char   *at = line->text + line->len;
    size_t  room = line->cap - line->len;
    va_list args;
    int     n;
    if (line->cut)
        return;
    va_start(args, fmt);
    n = vsnprintf(at, room, fmt, args); /* in place, to use little stack */
    va_end(args);
    if (n > 0 && (size_t)n + sizeof(dots) <= room) {
        line->len += (size_t)n;
        return;
    }
    *at = '\0';
    if (n > 0)
        cut(line);
}

void sxs_line_char(struct sxs_line *line, uint32_t c, char quote)
{
    static const char letters[] = {['\0'] = '0', ['\a'] = 'a', ['\b'] = 'b', ['\t'] = 't',
                                   ['\n'] = 'n', ['\v'] = 'v', ['\f'] = 'f', ['\r'] = 'r'};
    char bytes[8];
    if (c == (unsigned char)quote || c == '\\') {
        bytes[0] = '\\';
        bytes[1] = (char)c;
        put_bytes(line, bytes, 2);
    } else if (c < sizeof(letters) && letters[c]) {
        bytes[0] = '\\';
        bytes[1] = letters[c];
        put_bytes(line, bytes, 2);
    } else if (sxs_is_control(c) || sxs_utf16_is_half(c) || c == 0x2028 || c == 0x2029 ||
               (c >= 0xfffe && c <= 0xffff)) {
        snprintf(bytes, sizeof(bytes), "\\u%04X", c & 0xffff);
        put_bytes(line, bytes, 6);
    } else {
        put_bytes(line, bytes, sxs_utf8_put(bytes, c));
    }
}

void sxs_line_string(struct sxs_line *line, const uint16_t *units, size_t n, size_t total)
{
    sxs_line_put(line, "\"");
    if (n < total && n && (units[n - 1] & 0xfc00) == 0xd800)
        n--; /* half of a pair */
    for (size_t i = 0; i < n;)
        sxs_line_char(line, sxs_utf16_next(units, n, &i), '"');
    if (n < total)
        sxs_line_putf(line, "\"...[%zu]", total);
    else
        sxs_line_put(line, "\"");
}

size_t sxs_line_utf8(const uint16_t *units, size_t n, char *out, size_t size)
{
    return sxs_utf8_line(units, sxs_utf16_len(units, n), '?', out, size, NULL);
}
