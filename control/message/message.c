/* SPDX-License-Identifier: MIT */
#include "control/message/message.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static int is_name(const char *s, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (s[i] != '_' && (s[i] < 'a' || s[i] > 'z'))
            return 0;
    return len > 0;
}

/* Names that may occur several times in one message. */
static int may_repeat(const char *name)
{
    return strcmp(name, "runtime") == 0;
}

size_t sxs_message_size(const char *bytes, size_t size)
{
    size_t end = size < SXS_CONTROL_MAX ? size : SXS_CONTROL_MAX;
    if (end && bytes[0] == '\n')
        return (size_t)-1;
    for (size_t i = 0; i < end; i++) {
        if (!bytes[i])
            return (size_t)-1;
        if (bytes[i] == '\n' && i && bytes[i - 1] == '\n')
            return i + 1;
    }
    return size < SXS_CONTROL_MAX ? 0 : (size_t)-1;
}

/* Replaces the escapes of @value in place. Returns 0, or -1 if there is an unknown one. */
static int unescape(char *value)
{
    char *out = value;
    for (; *value; value++) {
        char c = *value;
        if (c == '\\') {
            value++;
            if (*value != 'n' && *value != '\\')
                return -1;
            c = *value == 'n' ? '\n' : '\\';
        }
        *out++ = c;
    }
    *out = '\0';
    return 0;
}

/* Adds the line @line, which ends with a zero, to @out. @number: for messages, from 1. */
static int parse_line(char *line, struct sxs_message *out, size_t number, char *why,
                      size_t why_size)
{
    char *equals = strchr(line, '=');
    if (!equals || !is_name(line, (size_t)(equals - line))) {
        snprintf(why, why_size, "line %zu of the message is not NAME=VALUE", number);
        return -1;
    }
    *equals = '\0';
    if (unescape(equals + 1) != 0) {
        snprintf(why, why_size,
                 "line %zu of the message: a backslash is followed by neither n nor a "
                 "backslash",
                 number);
        return -1;
    }
    if (out->n == SXS_CONTROL_PAIRS) {
        snprintf(why, why_size, "the message has more than %u lines", SXS_CONTROL_PAIRS);
        return -1;
    }
    if (!may_repeat(line) && sxs_message_get(out, line)) {
        snprintf(why, why_size, "line %zu of the message: %.40s is there twice", number, line);
        return -1;
    }
    out->names[out->n] = line;
    out->values[out->n++] = equals + 1;
    return 0;
}

int sxs_message_parse(char *bytes, size_t size, struct sxs_message *out, char *why, size_t why_size)
{
    char *end = bytes + size, *line = bytes;
    out->n = 0;
    if (size < 3 || sxs_message_size(bytes, size) != size) {
        snprintf(why, why_size, "not a message");
        return -1;
    }
    end--; /* the empty line */
    out->text = bytes;
    for (size_t number = 1; line < end; number++) {
        char *next = memchr(line, '\n', (size_t)(end - line));
        *next = '\0';
        if (number > 1 && parse_line(line, out, number, why, why_size) != 0)
            return -1;
        line = next + 1;
    }
    return 0;
}

const char *sxs_message_get(const struct sxs_message *m, const char *name)
{
    for (size_t i = 0; i < m->n; i++)
        if (strcmp(m->names[i], name) == 0)
            return m->values[i];
    return NULL;
}

/* Bytes that are free, without the one that sxs_message_end() needs. */
static size_t bytes_left(const struct sxs_message_writer *w)
{
    return sizeof(w->bytes) - 1 - w->size;
}

void sxs_message_begin(struct sxs_message_writer *w, const char *text)
{
    size_t len = strlen(text);
    w->size = w->n = 0;
    w->full = len + 1 > bytes_left(w);
    if (w->full)
        return;
    memcpy(w->bytes, text, len);
    w->bytes[len] = '\n';
    w->size = len + 1;
}

/* Writes escapes into the value of @len bytes at @at, and the line's end after it. Returns the
 * new end, or 0 if it does not fit. */
static size_t escape_value(struct sxs_message_writer *w, size_t at, size_t len)
{
    size_t extra = 0;
    for (size_t i = at; i < at + len; i++)
        extra += w->bytes[i] == '\n' || w->bytes[i] == '\\';
    if (at + len + extra + 1 > sizeof(w->bytes) - 1)
        return 0;
    char *from = w->bytes + at + len, *to = from + extra;
    *to = '\n';
    while (to > from) {
        char c = *--from;
        *--to = c == '\n' ? 'n' : c;
        if (c == '\n' || c == '\\')
            *--to = '\\';
    }
    return at + len + extra + 1;
}

void sxs_message_add(struct sxs_message_writer *w, const char *name, const char *value)
{
    if (value)
        sxs_message_addf(w, name, "%s", value);
}

void sxs_message_addf(struct sxs_message_writer *w, const char *name, const char *format, ...)
{
    size_t  at = w->size, left = bytes_left(w), end = 0;
    size_t  head = strlen(name) + 1;
    va_list args;
    int     len;
    if (head < left && w->n < SXS_CONTROL_PAIRS) {
        memcpy(w->bytes + at, name, head - 1);
        w->bytes[at + head - 1] = '=';
        va_start(args, format);
        len = vsnprintf(w->bytes + at + head, left - head, format, args);
        va_end(args);
        if (len >= 0 && (size_t)len < left - head)
            end = escape_value(w, at + head, (size_t)len);
    }
    if (end) {
        w->size = end;
        w->n++;
    } else {
        w->full = 1;
    }
}

void sxs_message_end(struct sxs_message_writer *w)
{
    w->bytes[w->size++] = '\n';
}
