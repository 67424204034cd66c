/* SPDX-License-Identifier: MIT */
/* instr/il/parse_string.c - parse string literals: UTF-8 with escapes, or bytes. */
#include <string.h>

#include "base/text/utf8.h"
#include "instr/il/internal.h"
#include "instr/il/parse.h"

static unsigned unescape(char c)
{
    switch (c) {
    case 'n': return '\n';
    case 't': return '\t';
    case 'r': return '\r';
    case '0': return 0;
    default: return (unsigned char)c;
    }
}

/* Bytes that are not UTF-8 give the replacement character. */
static size_t decode_char(const char *at, const char *end, uint16_t *units)
{
    size_t n = 0;
    while (at < end) {
        uint32_t c;
        size_t   len;
        if (*at == '\\' && at + 1 < end) {
            units[n++] = (uint16_t)unescape(at[1]);
            at += 2;
            continue;
        }
        len = sxs_utf8_next(at, (size_t)(end - at), &c);
        n += sxs_utf16_put(units + n, len ? c : 0xfffd);
        at += len ? len : 1;
    }
    return n;
}

static int hex_digit(char c)
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
        high = hex_digit(at[0]);
        low = high < 0 ? -1 : hex_digit(at[1]);
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
        n = decode_char(p->lex.word + 1, p->lex.at - 1, units);
        sxs_lex_next(&p->lex);
    } else {
        return sxs_lex_fail(&p->lex, "expected a string");
    }
    if (p->tokens->string(p->tokens->context, units, n, token) != 0)
        return sxs_lex_fail(&p->lex, "the string finds no room");
    return p->lex.status;
}
