/* SPDX-License-Identifier: MIT */
/* show_scalar.c - formats numbers, enum values, and value types that have a notation of their
 * own. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/mask.h"

#include "values/show.h"


/* Appends a number with the fewest digits that give the same number when read back. */
static void show_float(struct sxs_line *line, double value, int is_single)
{
    char text[64];
    for (int digits = is_single ? 6 : 15; digits <= 17; digits++) {
        sxs_format_double(text, sizeof(text), digits, value);
        double back = sxs_strtod(text, NULL);
        if (is_single ? (float)back == (float)value : back == value)
            break;
    }
    sxs_line_put(line, value != value ? "NaN" : text);
}

/* A character or a byte may be one of a text. */
static int is_masked(uint8_t element)
{
    enum sxs_mask mask = sxs_mask();
    return mask == SXS_MASK_ALL ||
           (mask == SXS_MASK_TEXT && (element == SXS_ELEMENT_CHAR || element == SXS_ELEMENT_I1 ||
                                      element == SXS_ELEMENT_U1));
}

void sxs_show_primitive(struct sxs_line *line, uint8_t element, const uint8_t *bytes)
{
    union {
        int8_t i1; uint8_t u1; int16_t i2; uint16_t u2; int32_t i4; uint32_t u4; int64_t i8;
        uint64_t u8; float r4; double r8;
    } v;
    if (is_masked(element)) {
        sxs_line_put(line, SXS_MASKED);
        return;
    }
    memcpy(&v, bytes, sxs_element_size(element));
    switch (element) {
    case SXS_ELEMENT_BOOLEAN: sxs_line_put(line, v.u1 ? "true" : "false"); break;
    case SXS_ELEMENT_CHAR:
        sxs_line_put(line, "'");
        sxs_line_char(line, v.u2, '\'');
        sxs_line_put(line, "'");
        break;
    case SXS_ELEMENT_I1: sxs_line_putf(line, "%d", v.i1); break;
    case SXS_ELEMENT_U1: sxs_line_putf(line, "%u", v.u1); break;
    case SXS_ELEMENT_I2: sxs_line_putf(line, "%d", v.i2); break;
    case SXS_ELEMENT_U2: sxs_line_putf(line, "%u", v.u2); break;
    case SXS_ELEMENT_I4: sxs_line_putf(line, "%d", v.i4); break;
    case SXS_ELEMENT_U4: sxs_line_putf(line, "%u", v.u4); break;
    case SXS_ELEMENT_I8: sxs_line_putf(line, "%" PRId64, v.i8); break;
    case SXS_ELEMENT_U8: sxs_line_putf(line, "%" PRIu64, v.u8); break;
    case SXS_ELEMENT_R4: show_float(line, (double)v.r4, 1); break;
    case SXS_ELEMENT_R8: show_float(line, v.r8, 0); break;
    case SXS_ELEMENT_I:
    case SXS_ELEMENT_U: sxs_line_putf(line, "0x%" PRIx64, v.u8); break;
    default: sxs_line_put(line, "<?: type>");
    }
}

/* ---- enums ------------------------------------------------------------------------------------ */

static uint64_t number_of(uint8_t element, const uint8_t *bytes)
{
    uint64_t value = 0;
    memcpy(&value, bytes, sxs_element_size(element));
    return value;
}

/* Splits @value into named flags, the largest first, as the runtime's ToString() does. Returns 0 if
 * bits without a name are left. */
static int take_flags(const struct sxs_type *t, uint64_t value, const char **names, unsigned cap,
                      unsigned *n)
{
    while (value && *n < cap) {
        const struct sxs_literal *best = NULL;
        for (uint32_t i = 0; i < t->n_literals; i++) {
            const struct sxs_literal *l = &t->literals[i];
            if (l->value && (l->value & value) == l->value && (!best || l->value > best->value))
                best = l;
        }
        if (!best)
            return 0;
        names[(*n)++] = best->name;
        value &= ~best->value;
    }
    return !value;
}

void sxs_show_enum(struct sxs_line *line, const struct sxs_type *t, const uint8_t *bytes)
{
    const char *names[16];
    unsigned    n = 0;
    uint64_t    value = number_of(t->element, bytes);
    if (sxs_mask() == SXS_MASK_ALL) {
        sxs_line_put(line, SXS_MASKED);
        return;
    }
    for (uint32_t i = 0; i < t->n_literals; i++) {
        if (t->literals[i].value == value) {
            sxs_line_put(line, t->literals[i].name);
            return;
        }
    }
    if (!t->is_flags || !value || !take_flags(t, value, names, 16, &n)) {
        sxs_show_primitive(line, t->element, bytes);
        return;
    }
    while (n) {
        sxs_line_put(line, names[--n]);
        sxs_line_put(line, n ? " | " : "");
    }
}

/* ---- forms ------------------------------------------------------------------------------------ */

static void show_decimal(struct sxs_line *line, const uint8_t *bytes)
{
    uint32_t part[4]; /* flags, high, low, middle */
    uint8_t  digits[40];
    unsigned n = 0, scale;
    memcpy(part, bytes, sizeof(part));
    scale = part[0] >> 16 & 0xff;
    while ((part[1] || part[2] || part[3] || n <= scale) && n < sizeof(digits)) {
        uint32_t *limbs[3] = {&part[1], &part[3], &part[2]};
        uint64_t  rest = 0;
        for (unsigned i = 0; i < 3; i++) {
            rest = rest << 32 | *limbs[i];
            *limbs[i] = (uint32_t)(rest / 10);
            rest %= 10;
        }
        digits[n++] = (uint8_t)rest;
    }
    sxs_line_put(line, part[0] >> 31 ? "-" : "");
    while (n) {
        sxs_line_putf(line, "%u", digits[--n]);
        if (n && n == scale)
            sxs_line_put(line, ".");
    }
}

static void show_fraction(struct sxs_line *line, uint64_t ticks)
{
    if (ticks)
        sxs_line_putf(line, ".%07u", (unsigned)ticks);
}

/* Appends a DateTime. Converts days since 0001-01-01 to a date with years that begin in March, so
 * that a leap day is the last day of its year. */
static void show_date(struct sxs_line *line, const uint8_t *bytes)
{
    uint64_t data, ticks, seconds;
    int64_t  days, era, of_era, year, of_year, month;
    memcpy(&data, bytes, sizeof(data));
    ticks = data & UINT64_C(0x3fffffffffffffff);
    seconds = ticks / 10000000;
    days = (int64_t)(seconds / 86400) + 306; /* from 0000-03-01 */
    era = days / 146097;
    of_era = days % 146097;
    year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    of_year = of_era - (365 * year + year / 4 - year / 100);
    month = (5 * of_year + 2) / 153;
    sxs_line_putf(line, "%04d-%02d-%02dT%02u:%02u:%02u",
                  (int)(year + era * 400 + (month >= 10)),
                  (int)(month < 10 ? month + 3 : month - 9),
                  (int)(of_year - (153 * month + 2) / 5 + 1), (unsigned)(seconds / 3600 % 24),
                  (unsigned)(seconds / 60 % 60), (unsigned)(seconds % 60));
    show_fraction(line, ticks % 10000000);
    sxs_line_put(line, data >> 62 == 1 ? "Z" : "");
}

static void show_time_span(struct sxs_line *line, const uint8_t *bytes)
{
    int64_t  value;
    uint64_t ticks, seconds;
    memcpy(&value, bytes, sizeof(value));
    ticks = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    seconds = ticks / 10000000;
    sxs_line_put(line, value < 0 ? "-" : "");
    if (seconds / 86400)
        sxs_line_putf(line, "%" PRIu64 ".", seconds / 86400);
    sxs_line_putf(line, "%02u:%02u:%02u", (unsigned)(seconds / 3600 % 24),
                  (unsigned)(seconds / 60 % 60), (unsigned)(seconds % 60));
    show_fraction(line, ticks % 10000000);
}

static void show_guid(struct sxs_line *line, const uint8_t *b)
{
    uint32_t a;
    uint16_t c, d;
    memcpy(&a, b, sizeof(a));
    memcpy(&c, b + 4, sizeof(c));
    memcpy(&d, b + 6, sizeof(d));
    sxs_line_putf(line, "%08x-%04x-%04x-%02x%02x-%02x%02x%02x%02x%02x%02x", a, c, d, b[8], b[9],
                  b[10], b[11], b[12], b[13], b[14], b[15]);
}

void sxs_show_form(struct sxs_line *line, const struct sxs_type *t, const uint8_t *bytes)
{
    if (sxs_mask() == SXS_MASK_ALL)
        sxs_line_put(line, SXS_MASKED);
    else if (t->form == SXS_FORM_DECIMAL && t->size == 16)
        show_decimal(line, bytes);
    else if (t->form == SXS_FORM_DATE && t->size == 8)
        show_date(line, bytes);
    else if (t->form == SXS_FORM_TIME_SPAN && t->size == 8)
        show_time_span(line, bytes);
    else if (t->form == SXS_FORM_GUID && t->size == 16)
        show_guid(line, bytes);
    else
        sxs_line_put(line, "<?: form>");
}
