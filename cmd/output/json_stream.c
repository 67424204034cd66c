/* SPDX-License-Identifier: MIT */
#include "cmd/output/json_stream.h"

#include "cmd/output/json_values.h"

enum { INDENT = 2 };

static int begin_key(struct sxs_json_stream *s, const char *key)
{
    json_t *text = json_string(key);
    fputs(s->keys ? ",\n  " : "{\n  ", s->to);
    s->keys = true;
    int err = text ? sxs_json_dump_at(text, s->to, JSON_ENCODE_ANY, 0) : -1;
    fputs(": ", s->to);
    json_decref(text);
    return err;
}

int sxs_json_stream_object(struct sxs_json_stream *s, const json_t *o)
{
    const char *key;
    json_t     *value;
    int         err = 0;
    json_object_foreach((json_t *)(uintptr_t)o, key,
                        value) if (!err && (err = begin_key(s, key)) == 0) err =
        sxs_json_dump_at(value, s->to, JSON_INDENT(INDENT) | JSON_ENCODE_ANY, INDENT);
    return err;
}

int sxs_json_stream_array(struct sxs_json_stream *s, const char *key)
{
    int err = begin_key(s, key);
    putc('[', s->to);
    s->rows = false;
    return err;
}

FILE *sxs_json_stream_text_row(struct sxs_json_stream *s)
{
    fputs(s->rows ? ",\n    " : "\n    ", s->to);
    s->rows = true;
    return s->to;
}

int sxs_json_stream_row(struct sxs_json_stream *s, json_t *row)
{
    (void)sxs_json_stream_text_row(s);
    int err =
        row ? sxs_json_dump_at(row, s->to, JSON_INDENT(INDENT) | JSON_ENCODE_ANY, 2 * INDENT) : -1;
    json_decref(row);
    return err;
}

int sxs_json_stream_end(struct sxs_json_stream *s)
{
    fputs(s->rows ? "\n  ]" : "]", s->to);
    return ferror(s->to) ? -1 : 0;
}

int sxs_json_stream_close(struct sxs_json_stream *s)
{
    fputs(s->keys ? "\n}" : "{}", s->to);
    return ferror(s->to) ? -1 : 0;
}
