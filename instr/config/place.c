/* SPDX-License-Identifier: MIT */
/* instr/config/place.c - find lines and columns, and report problems there. */
#include <stdlib.h>

#include "base/text/utf8.h"
#include "instr/config/reader.h"

void config_place(struct config_source *source, size_t at, uint32_t *line, uint32_t *column)
{
    if (!source->line || at < source->at) {
        source->at = 0;
        source->line = source->column = 1;
        if (source->size >= 3 && source->bytes[0] == '\xef')
            source->at = 3; /* a byte order mark */
    }
    for (; source->at < at && source->at < source->size; source->at++) {
        char c = source->bytes[source->at];
        if (c == '\n') {
            source->line++;
            source->column = 1;
        } else if (sxs_utf8_begins(c)) {
            source->column++;
        }
    }
    *line = source->line;
    *column = source->column;
}

/* Adds a problem at byte @at; SIZE_MAX: about the file as a whole. */
static void add_problem(struct config_reader *r, size_t at, int warning, const char *expected,
                        const char *format, va_list args)
{
    struct sxs_problem p = {.file = r->file->path, .warning = warning, .expected = expected};
    uint32_t          *n = warning ? &r->n_warnings : &r->n_errors;
    if ((*n)++ >= CONFIG_PROBLEMS_MAX)
        return;
    if (at != SIZE_MAX)
        config_place(&r->source, at, &p.line, &p.column);
    p.what = config_vprintf(&r->whole->arena, format, args);
    config_whole_problem(r->whole, &p);
}

void config_wrong_at(struct config_reader *r, size_t at, const char *expected, const char *format,
                     ...)
{
    va_list args;
    va_start(args, format);
    add_problem(r, at, 0, expected, format, args);
    va_end(args);
}

static int is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Returns the offset of @attribute in the start tag of @node, which is well-formed. Returns the
 * offset of the tag when it does not have that attribute. */
static size_t attribute_offset(const struct config_reader *r, const struct _xmlNode *node,
                               const char *attribute)
{
    const char *s = r->source.bytes;
    size_t      begin = config_offset(r, node), at = begin, size = r->source.size, len = 0;
    while (attribute && attribute[len])
        len++;
    if (!len || begin >= size)
        return begin;
    while (at < size && s[at] != '>') {
        size_t name = at, end;
        if (s[at] == '"' || s[at] == '\'') {
            for (char quote = s[at++]; at < size && s[at] != quote; at++)
                ;
            at++;
            continue;
        }
        for (end = at; end < size && end - name < len && s[end] == attribute[end - name]; end++)
            ;
        if (name > begin && is_blank(s[name - 1]) && end - name == len && end < size &&
            (s[end] == '=' || is_blank(s[end])))
            return name;
        at++;
    }
    return begin;
}

void config_wrong(struct config_reader *r, const struct _xmlNode *node, const char *attribute,
                  const char *expected, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add_problem(r, attribute_offset(r, node, attribute), 0, expected, format, args);
    va_end(args);
}

void config_warn(struct config_reader *r, const struct _xmlNode *node, const char *attribute,
                 const char *expected, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add_problem(r, attribute_offset(r, node, attribute), 1, expected, format, args);
    va_end(args);
}
