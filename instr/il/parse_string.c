/* SPDX-License-Identifier: MIT */
/* instr/il/parse_string.c - parse string literals: UTF-8 with escapes, or bytes. */
#include <string.h>

#include "instr/il/internal.h"
#include "instr/il/parse.h"

static unsigned escaped(char c)
{
    switch (c) {
    case 'n': return '\n';
    case 't': return '\t';
    case 'r': return '\r';
    case '0': return 0;
    default: return (unsigned char)c;
    }
}

/* Takes one UTF-8 character. Bytes that are not valid UTF-8 give the replacement character. */
static uint32_t take_utf8(const char **at)
{
    const unsigned char *p = (const unsigned char *)*at;
    unsigned             n = *p < 0x80 ? 0 : *p >= 0xf0 ? 3 : *p >= 0xe0 ? 2 : *p >= 0xc0 ? 1 : 4;
    uint32_t             c = n == 0 ? *p : *p & (0x3fu >> n);
    if (n == 4) {
        ++*at;
        return 0xfffd;
    }
    for (unsigned i = 1; i <= n; i++) {
        if ((p[i] & 0xc0) != 0x80) {
            *at += i;
            return 0xfffd;
        }
        c = c << 6 | (p[i] & 0x3f);
    }
    *at += n + 1;
    return c;
}

static size_t decode(const char *at, const char *end, uint16_t *units)
{
    size_t n = 0;
    while (at < end) {
        uint32_t c;
        if (*at == '\\' && at + 1 < end) {
            units[n++] = (uint16_t)escaped(at[1]);
            at += 2;
            continue;
        }
        c = take_utf8(&at);
        if (c >= 0x10000) {
            units[n++] = (uint16_t)(0xd800 + ((c - 0x10000) >> 10));
            c = 0xdc00 + ((c - 0x10000) & 0x3ff);
        }
        units[n++] = (uint16_t)c;
    }
    return n;
}

static int hex(char c)
{
    const char *digits = "0123456789abcdef", *at = c ? strchr(digits, c | 0x20) : NULL;
    return at ? (int)(at - digits) : -1;
}

/* Takes pairs of hexadecimal digits up to the bracket. Reads the text itself, because the lexer
 * would see names and numbers. */
static int take_bytes(struct sxs_parser *p, uint8_t *bytes, size_t *n)
{
    const char *at = p->lex.at;
    *n = 0;
    if (!sxs_lex_is(&p->lex, "("))
        return sxs_lex_fail(&p->lex, "expected (");
    for (;;) {
        int high, low;
        at += strspn(at, " \t\r\n");
        if (*at == ')')
            break;
        high = hex(at[0]);
        low = high < 0 ? -1 : hex(at[1]);
        if (high < 0 || low < 0)
            return sxs_lex_fail(&p->lex, "expected bytes of two hexadecimal digits");
        bytes[(*n)++] = (uint8_t)(high << 4 | low);
        at += 2;
    }
    p->lex.at = at + 1;
    sxs_lex_next(&p->lex);
    return p->lex.status;
}

int sxs_parse_string(struct sxs_parser *p, uint32_t *token)
{
    uint16_t *units = sxs_il_alloc(p->lex.body, 2 * strlen(p->lex.word) + 2);
    size_t    n;
    if (!units)
        return sxs_lex_fail(&p->lex, "no memory");
    if (sxs_lex_take(&p->lex, "bytearray")) {
        if (take_bytes(p, (uint8_t *)units, &n) != 0)
            return p->lex.status;
        n /= 2;
    } else if (p->lex.kind == SXS_WORD_STRING) {
        n = decode(p->lex.word + 1, p->lex.at - 1, units);
        sxs_lex_next(&p->lex);
    } else {
        return sxs_lex_fail(&p->lex, "expected a string");
    }
    if (p->tokens->string(p->tokens->context, units, n, token) != 0)
        return sxs_lex_fail(&p->lex, "the string finds no room");
    return p->lex.status;
}
