/* SPDX-License-Identifier: MIT */
#include "instr/il/lexer.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int report_failure(struct sxs_lexer *l, const char *word, const char *format, va_list args)
{
    unsigned line = 1, column = 1;
    char     text[120];
    if (l->status)
        return l->status;
    for (const char *p = l->text; p < word; p++) {
        column = *p == '\n' ? 1 : column + 1;
        line += *p == '\n';
    }
    vsnprintf(text, sizeof(text), format, args);
    l->status = SXS_IL_EINVALID;
    l->kind = SXS_WORD_END;
    if (l->error) {
        l->error->status = SXS_IL_EINVALID;
        l->error->offset = (uint32_t)(word - l->text);
        snprintf(l->error->text, sizeof(l->error->text), "line %u, column %u: %s", line, column,
                 text);
    }
    return l->status;
}

int sxs_lex_fail(struct sxs_lexer *l, const char *format, ...)
{
    va_list args;
    int     status;
    va_start(args, format);
    status = report_failure(l, l->word, format, args);
    va_end(args);
    return status;
}

int sxs_lex_fail_at(struct sxs_lexer *l, const char *word, const char *format, ...)
{
    va_list args;
    int     status;
    va_start(args, format);
    status = report_failure(l, word, format, args);
    va_end(args);
    return status;
}

/* ---- words ----------------------------------------------------------------------------------- */

static int is_name(char c)
{
    return isalnum((unsigned char)c) || (c && strchr("_$@`?", c)) || (unsigned char)c >= 0x80;
}

static void add_char(struct sxs_lexer *l, size_t *len, char c)
{
    if (*len + 1 < sizeof(l->name))
        l->name[(*len)++] = c;
    else
        sxs_lex_fail(l, "a name of more than %u bytes", SXS_WORD_MAX - 1);
}

/* Takes the text between single quotes, which may contain \' and \\. */
static void take_quoted(struct sxs_lexer *l, size_t *len)
{
    l->quoted = 1;
    for (l->at++; *l->at != '\''; l->at++) {
        if (*l->at == '\\' && l->at[1])
            l->at++;
        if (!*l->at || *l->at == '\n') {
            sxs_lex_fail(l, "a name's closing quote is missing");
            return;
        }
        add_char(l, len, *l->at);
    }
    l->at++;
}

/* Takes a name: parts separated by dots, each bare or quoted. Directives and .ctor begin with a
 * dot. */
static void take_name(struct sxs_lexer *l)
{
    size_t len = 0;
    l->kind = SXS_WORD_NAME;
    do {
        if (*l->at == '.')
            add_char(l, &len, *l->at++);
        if (*l->at == '\'')
            take_quoted(l, &len);
        while (is_name(*l->at) && !l->status)
            add_char(l, &len, *l->at++);
    } while (!l->status && *l->at == '.' && (is_name(l->at[1]) || l->at[1] == '\''));
    if (*l->at == '.' && !l->quoted) /* a prefix such as `volatile.` */
        add_char(l, &len, *l->at++);
    l->name[len] = '\0';
}

static void take_string(struct sxs_lexer *l)
{
    l->kind = SXS_WORD_STRING;
    for (l->at++; *l->at && *l->at != '"' && *l->at != '\n'; l->at++)
        if (*l->at == '\\' && l->at[1])
            l->at++;
    if (*l->at != '"')
        sxs_lex_fail(l, "a string's closing quote is missing");
    else
        l->at++;
}

static void take_number(struct sxs_lexer *l)
{
    l->kind = SXS_WORD_NUMBER;
    l->at++;
    while (isalnum((unsigned char)*l->at) ||
           (*l->at == '.' && isdigit((unsigned char)l->at[1])) ||
           (strchr("+-", *l->at) && *l->at && strchr("eE", l->at[-1]) && l->word[1] != 'x'))
        l->at++;
    if (*l->at == '.' && l->at[1] != '.')
        l->at++;
}

static void take_mark(struct sxs_lexer *l)
{
    size_t n = !strncmp(l->at, "::", 2) ? 2 : !strncmp(l->at, "...", 3) ? 3 : 1;
    l->kind = SXS_WORD_MARK;
    memcpy(l->name, l->at, n);
    l->name[n] = '\0';
    l->at += n;
}

static void skip_blanks(struct sxs_lexer *l)
{
    while (*l->at == ' ' || *l->at == '\t' || *l->at == '\r')
        l->at++;
    if (!strncmp(l->at, "//", 2))
        l->at += strcspn(l->at, "\n");
}

void sxs_lex_next(struct sxs_lexer *l)
{
    if (l->status)
        return;
    skip_blanks(l);
    l->word = l->at;
    l->quoted = 0;
    l->name[0] = '\0';
    if (!*l->at) {
        l->kind = SXS_WORD_END;
    } else if (*l->at == '\n') {
        l->kind = SXS_WORD_LINE;
        l->at++;
    } else if (*l->at == '"') {
        take_string(l);
    } else if (isdigit((unsigned char)*l->at) ||
               (*l->at == '-' && (isdigit((unsigned char)l->at[1]) || l->at[1] == '.'))) {
        take_number(l);
    } else if (is_name(*l->at) || *l->at == '\'' || (*l->at == '.' && is_name(l->at[1]))) {
        take_name(l);
    } else {
        take_mark(l);
    }
}

void sxs_lex_begin(struct sxs_lexer *l, const char *text)
{
    l->text = l->at = l->word = text;
    l->status = SXS_IL_OK;
    sxs_lex_next(l);
}

int sxs_lex_is(const struct sxs_lexer *l, const char *what)
{
    return (l->kind == SXS_WORD_MARK || (l->kind == SXS_WORD_NAME && !l->quoted)) &&
           !strcmp(l->name, what);
}

int sxs_lex_take(struct sxs_lexer *l, const char *what)
{
    if (!sxs_lex_is(l, what))
        return 0;
    sxs_lex_next(l);
    return 1;
}

int sxs_lex_expect(struct sxs_lexer *l, const char *what)
{
    if (!sxs_lex_take(l, what))
        return sxs_lex_fail(l, "expected %s", what);
    return l->status;
}

int sxs_lex_integer(struct sxs_lexer *l, int64_t *value)
{
    char *end;
    if (l->kind != SXS_WORD_NUMBER)
        return sxs_lex_fail(l, "expected a number");
    errno = 0; /* base 0, because in ilasm a leading zero means octal */
    *value = *l->word == '-' ? strtoll(l->word, &end, 0) : (int64_t)strtoull(l->word, &end, 0);
    if (end != l->at || errno)
        return sxs_lex_fail(l, "not a number that can be");
    sxs_lex_next(l);
    return l->status;
}
