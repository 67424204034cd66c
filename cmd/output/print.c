/* SPDX-License-Identifier: MIT */
#include "cmd/output/print.h"

#include "base/displayed.h"
#include "cmd/output/must.h"
#include "cmd/output/text.h"

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

/* A text that is put together before it is written at once. */
struct printed_line {
    char  *bytes; /* room, or owned */
    size_t len, cap;
    char   room[1024];
};

static void begin_line(struct printed_line *l)
{
    l->bytes = l->room;
    l->len = 0;
    l->cap = sizeof(l->room);
}

/* Returns room for @size bytes more after the text. */
static char *reserve_bytes(struct printed_line *l, size_t size)
{
    if (size > l->cap - l->len) {
        size_t cap = 2 * (l->len + size);
        char  *bytes = sxs_must(realloc(l->bytes == l->room ? NULL : l->bytes, cap));
        if (l->bytes == l->room)
            memcpy(bytes, l->room, l->len);
        l->bytes = bytes;
        l->cap = cap;
    }
    return l->bytes + l->len;
}

static void add_bytes(struct printed_line *l, const char *bytes, size_t size)
{
    memcpy(reserve_bytes(l, size), bytes, size);
    l->len += size;
}

static void end_line(struct printed_line *l, FILE *to)
{
    fwrite(l->bytes, 1, l->len, to);
    if (l->bytes != l->room)
        free(l->bytes);
}

/* ---- conversions ----------------------------------------------------------------------------- */

/* One conversion of a format. */
struct conversion {
    char        flags[8];
    int         width, precision; /* negative precision: none */
    const char *length;           /* in the format: "", "h", "hh", "l", "ll", "z", "t", "j" */
    size_t      n_length;
    char        letter;
};

/* va_list may be an array, which cannot be passed on by address from a parameter. */
struct arguments {
    va_list ap;
};

static int read_number(const char **at, struct arguments *args)
{
    int n = 0;
    if (**at == '*') {
        ++*at;
        return va_arg(args->ap, int);
    }
    for (; **at >= '0' && **at <= '9'; ++*at)
        n = 10 * n + (**at - '0');
    return n;
}

/* Reads the conversion after a '%'. Returns what stands after the conversion. */
static const char *read_conversion(const char *at, struct conversion *c, struct arguments *args)
{
    size_t n_flags = strspn(at, "-+ #0'");
    size_t kept = n_flags < sizeof(c->flags) - 2 ? n_flags : sizeof(c->flags) - 2;
    memcpy(c->flags, at, kept);
    at += n_flags;
    c->width = read_number(&at, args);
    if (c->width < 0) {
        c->flags[kept++] = '-';
        c->width = -c->width;
    }
    c->flags[kept] = '\0';
    c->precision = -1;
    if (*at == '.') {
        at++;
        c->precision = read_number(&at, args);
    }
    c->length = at;
    c->n_length = strspn(at, "hlztj");
    at += c->n_length;
    c->letter = *at;
    return *at ? at + 1 : at;
}

/* Appends @size bytes within the width of the conversion. */
static void add_padded(struct printed_line *l, const struct conversion *c, const char *bytes,
                       size_t size)
{
    size_t pad = (size_t)c->width > size ? (size_t)c->width - size : 0;
    bool   left = strchr(c->flags, '-');
    char  *out = reserve_bytes(l, size + pad);
    memset(out + (left ? size : 0), ' ', pad);
    memcpy(out + (left ? 0 : pad), bytes, size);
    l->len += size + pad;
}

static void add_text(struct printed_line *l, const struct conversion *c, const char *text)
{
    if (!text)
        text = "(null)";
    size_t size = c->precision >= 0 ? strnlen(text, (size_t)c->precision) : strlen(text);
    if (sxs_displayed_len(text, size) == size) {
        add_padded(l, c, text, size);
        return;
    }
    char *copy = sxs_must(strndup(text, size)), *clean = sxs_must(malloc(3 * size + 1));
    sxs_text_clean(copy, clean, 3 * size + 1);
    add_padded(l, c, clean, strlen(clean));
    free(clean);
    free(copy);
}

static intmax_t read_signed(const struct conversion *c, struct arguments *args)
{
    switch (c->n_length ? *c->length : '\0') {
    case 'z':
    case 't':
    case 'j': return va_arg(args->ap, intmax_t); /* as wide as ssize_t and ptrdiff_t */
    case 'l': return c->n_length > 1 ? va_arg(args->ap, long long) : va_arg(args->ap, long);
    case 'h': {
        int v = va_arg(args->ap, int);
        return c->n_length > 1 ? (signed char)v : (short)v;
    }
    default: return va_arg(args->ap, int);
    }
}

static uintmax_t read_unsigned(const struct conversion *c, struct arguments *args)
{
    switch (c->n_length ? *c->length : '\0') {
    case 'h': {
        unsigned v = va_arg(args->ap, unsigned);
        return c->n_length > 1 ? (unsigned char)v : (unsigned short)v;
    }
    case '\0': return va_arg(args->ap, unsigned);
    default: return (uintmax_t)read_signed(c, args); /* as wide as an unsigned one */
    }
}

/* Appends a number. printf() formats it, in the widest type of its kind. */
static void add_number(struct printed_line *l, const struct conversion *c, struct arguments *args)
{
    size_t size = 512 + (size_t)c->width + (size_t)(c->precision > 0 ? c->precision : 0);
    char  *out = reserve_bytes(l, size), format[24];
    int    n = 0;
    bool   is_integer = strchr("dioxXu", c->letter);
    char  *end = stpcpy(stpcpy(stpcpy(format, "%"), c->flags), is_integer ? "*.*j" : "*.*");
    *end++ = c->letter;
    *end = '\0';
    if (c->letter == 'd' || c->letter == 'i')
        n = snprintf(out, size, format, c->width, c->precision, read_signed(c, args));
    else if (is_integer)
        n = snprintf(out, size, format, c->width, c->precision, read_unsigned(c, args));
    else if (c->letter == 'p') {
        void *pointer = va_arg(args->ap, void *);
        n = snprintf(out, size, format, c->width, c->precision, pointer);
    } else {
        double number = va_arg(args->ap, double);
        n = snprintf(out, size, format, c->width, c->precision, number);
    }
    l->len += n > 0 ? (size_t)n : 0;
}

/* Appends what one conversion of @fmt, after its '%', makes of its argument. Returns what stands
 * after the conversion; NULL: it is not one, which the compiler has refused. */
static const char *add_conversion(struct printed_line *l, const char *fmt, struct arguments *args)
{
    struct conversion c;
    const char       *after = read_conversion(fmt, &c, args);
    if (c.letter == 's') {
        add_text(l, &c, va_arg(args->ap, const char *));
    } else if (c.letter == 'c') {
        char text[2] = {(char)va_arg(args->ap, int), '\0'};
        c.precision = 1;
        add_text(l, &c, text);
    } else if (c.letter == '%') {
        add_bytes(l, "%", 1);
    } else if (c.letter && strchr("diouxXpfFeEgGaA", c.letter)) {
        add_number(l, &c, args);
    } else {
        return NULL;
    }
    return after;
}

static void add_format(struct printed_line *l, const char *fmt, va_list ap)
{
    struct arguments args;
    va_copy(args.ap, ap);
    while (fmt && *fmt) {
        size_t own = strcspn(fmt, "%");
        add_bytes(l, fmt, own);
        fmt += own;
        if (*fmt == '%')
            fmt = add_conversion(l, fmt + 1, &args);
    }
    va_end(args.ap);
}

/* ---- printing -------------------------------------------------------------------------------- */

void sxs_vprint_to(FILE *to, const char *fmt, va_list ap)
{
    struct printed_line l;
    begin_line(&l);
    add_format(&l, fmt, ap);
    end_line(&l, to);
}

void sxs_print_to(FILE *to, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    sxs_vprint_to(to, fmt, ap);
    va_end(ap);
}

void sxs_print(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    sxs_vprint_to(stdout, fmt, ap);
    va_end(ap);
}

void sxs_print_lines(FILE *to, const char *text)
{
    while (*text) {
        size_t len = strcspn(text, "\n");
        sxs_print_to(to, text[len] ? "%.*s\n" : "%.*s", (int)len, text);
        text += len + (text[len] == '\n');
    }
}

void sxs_option_error(const struct argp_state *state, const char *fmt, ...)
{
    struct printed_line l;
    va_list             ap;
    begin_line(&l);
    va_start(ap, fmt);
    add_format(&l, fmt, ap);
    va_end(ap);
    argp_error(state, "%.*s", (int)l.len, l.bytes);
    if (l.bytes != l.room)
        free(l.bytes);
}
