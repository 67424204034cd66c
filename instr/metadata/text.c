/* SPDX-License-Identifier: MIT */
#include "instr/metadata/text.h"

#include <ctype.h>
#include <string.h>

#include "base/displayed.h"

/* ---- identifiers ----------------------------------------------------------------------------- */

/* Can a part of a name between dots be written without quotes? It must not begin with a digit, and
 * may have letters, digits and the characters _$@`? only. ilasm's keywords need quotes. They are
 * many, so all parts that have only lower-case letters and digits get quotes. */
static int is_bare(const char *part, size_t len)
{
    int capital = 0;
    if (!len || isdigit((unsigned char)part[0]))
        return 0;
    for (size_t i = 0; i < len; i++) {
        if (!isalnum((unsigned char)part[i]) && !strchr("_$@`?", part[i]))
            return 0;
        capital |= !islower((unsigned char)part[i]) && !isdigit((unsigned char)part[i]);
    }
    return capital;
}

static void put_part(struct sxs_text *t, const char *part, size_t len)
{
    if (is_bare(part, len)) {
        sxs_text_putf(t, "%.*s", (int)len, part);
        return;
    }
    sxs_text_put(t, "'");
    for (size_t i = 0, n; i < len; i += n) {
        uint32_t c = 0;
        n = sxs_utf8_next(part + i, len - i, &c);
        if (!n || !sxs_is_displayed(c))
            sxs_text_put(t, "?"); /* the name ends no line, and controls no terminal */
        else if (c == '\'' || c == '\\')
            sxs_text_putf(t, "\\%c", (char)c);
        else
            sxs_text_put_bytes(t, part + i, n);
        n += !n;
    }
    sxs_text_put(t, "'");
}

void sxs_il_put_name(struct sxs_text *t, const char *name)
{
    if (!strcmp(name, ".ctor") || !strcmp(name, ".cctor")) {
        sxs_text_put(t, name);
        return;
    }
    for (;;) {
        size_t len = strcspn(name, ".");
        if (!name[len] || !len || !is_bare(name, len))
            break;
        sxs_text_putf(t, "%.*s.", (int)len, name);
        name += len + 1;
    }
    put_part(t, name, strlen(name));
}

/* ---- literals -------------------------------------------------------------------------------- */

static unsigned read_unit(const uint8_t *units, size_t i)
{
    return (unsigned)(units[2 * i] | units[2 * i + 1] << 8);
}

static int is_plain(const uint8_t *units, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        unsigned u = read_unit(units, i);
        if (u > 0x7e || (u < 0x20 && u != '\n' && u != '\t' && u != '\r'))
            return 0;
    }
    return 1;
}

void sxs_il_put_utf16(struct sxs_text *t, const uint8_t *units, size_t size)
{
    size_t n = size / 2;
    if (!is_plain(units, n)) {
        sxs_text_put(t, "bytearray (");
        for (size_t i = 0; i < 2 * n; i++)
            sxs_text_putf(t, i ? " %02X" : "%02X", units[i]);
        sxs_text_put(t, ")");
        return;
    }
    sxs_text_put(t, "\"");
    for (size_t i = 0; i < n; i++) {
        unsigned u = read_unit(units, i);
        switch (u) {
        case '\n': sxs_text_put(t, "\\n"); break;
        case '\t': sxs_text_put(t, "\\t"); break;
        case '\r': sxs_text_put(t, "\\r"); break;
        case '"':
        case '\\': sxs_text_putf(t, "\\%c", (int)u); break;
        default: sxs_text_putf(t, "%c", (int)u); break;
        }
    }
    sxs_text_put(t, "\"");
}
