/* SPDX-License-Identifier: MIT */
#include "cmd/clickhouse/sql.h"

#include <string.h>

/* Writes one byte of a string literal. A zero byte cannot occur; all other bytes have no meaning
 * inside of quotes. */
static void put_literal(FILE *to, char c)
{
    if (c == '\'' || c == '\\')
        putc('\\', to);
    putc(c, to);
}

void sxs_sql_text(FILE *to, const char *text)
{
    putc('\'', to);
    for (; *text; text++)
        put_literal(to, *text);
    putc('\'', to);
}

static bool has_wildcard(const char *pattern)
{
    for (; *pattern; pattern++) {
        if (*pattern == '*' || *pattern == '?')
            return true;
        if (*pattern == '\\' && pattern[1])
            pattern++;
    }
    return false;
}

/* Writes a character that a pattern of LIKE means literally. */
static void put_plain(FILE *to, char c, bool like)
{
    if (like && (c == '%' || c == '_' || c == '\\'))
        put_literal(to, '\\');
    put_literal(to, c);
}

void sxs_sql_match(FILE *to, const char *pattern, bool negated)
{
    bool like = has_wildcard(pattern);
    if (like)
        fputs(negated ? " NOT LIKE '" : " LIKE '", to);
    else
        fputs(negated ? " != '" : " = '", to);
    for (; *pattern; pattern++) {
        if (like && *pattern == '*')
            putc('%', to);
        else if (like && *pattern == '?')
            putc('_', to);
        else if (*pattern == '\\' && pattern[1])
            put_plain(to, *++pattern, like);
        else
            put_plain(to, *pattern, like);
    }
    putc('\'', to);
}

bool sxs_sql_is_name(const char *name)
{
    size_t n = strlen(name);
    return n > 0 && n <= 64 && !(name[0] >= '0' && name[0] <= '9') &&
           strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == n;
}

void sxs_url_text(FILE *to, const char *text)
{
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
            c == '-' || c == '.' || c == '_' || c == '~')
            putc(c, to);
        else
            fprintf(to, "%%%02X", c);
    }
}
