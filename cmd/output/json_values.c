/* SPDX-License-Identifier: MIT */
#include "cmd/output/json_values.h"

#include "base/displayed.h"
#include "base/text/utf8.h"
#include "cmd/output/text.h"

#include <stdio.h>

json_t *sxs_json_number(uint64_t v)
{
    return json_integer(v > INT64_MAX ? INT64_MAX : (json_int_t)v);
}

json_t *sxs_json_text(const char *s)
{
    char clean[3 * 4096 + 1]; /* one byte of input can become three bytes */
    sxs_text_clean(s, clean, sizeof(clean));
    return json_string(clean);
}

int sxs_json_set_number(json_t *o, const char *key, uint64_t v)
{
    return json_object_set_new(o, key, sxs_json_number(v));
}

int sxs_json_set_text(json_t *o, const char *key, const char *s)
{
    return json_object_set_new(o, key, sxs_json_text(s));
}

json_t *sxs_json_whole(json_t *o, int err)
{
    if (!err)
        return o;
    json_decref(o);
    return NULL;
}

void sxs_json_escape(FILE *to, uint32_t c)
{
    uint16_t units[2];
    size_t   n = sxs_utf16_put(units, c);
    for (size_t i = 0; i < n; i++)
        fprintf(to, "\\u%04x", units[i]);
}

struct dump {
    FILE *to;
    int   indent; /* spaces after each line feed */
};

/* jansson passes pieces that begin and end between two characters. A line feed is layout: within a
 * string jansson has escaped it. */
static int put_piece(const char *piece, size_t size, void *arg)
{
    const struct dump *dump = arg;
    FILE              *to = dump->to;
    for (size_t at = 0; at < size;) {
        size_t len = sxs_displayed_len(piece + at, size - at);
        fwrite(piece + at, 1, len, to);
        at += len;
        if (at == size)
            break;
        uint32_t c = 0xfffd;
        len = sxs_utf8_next(piece + at, size - at, &c);
        if (c == '\n')
            fprintf(to, "\n%*s", dump->indent, "");
        else
            sxs_json_escape(to, c);
        at += len ? len : 1;
    }
    return ferror(to) ? -1 : 0;
}

int sxs_json_dump(const json_t *o, FILE *to, size_t flags)
{
    return sxs_json_dump_at(o, to, flags, 0);
}

int sxs_json_dump_at(const json_t *o, FILE *to, size_t flags, int indent)
{
    struct dump dump = {to, indent};
    return json_dump_callback(o, put_piece, &dump, flags);
}

int sxs_json_print(json_t *o, int err)
{
    if (!err)
        err = sxs_json_dump(o, stdout, JSON_INDENT(2));
    putchar('\n');
    json_decref(o);
    return err;
}
