/* SPDX-License-Identifier: MIT */
#include "cmd/report/condition.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/c_locale.h"
#include "cmd/output/text.h"

#define QUANTILE \
    1.959963984540054 /* of the normal distribution: 95 % lie within so many deviations */

/* ---- parsing --------------------------------------------------------------------------------- */

/* Units of time, of shares, and of numbers; those of bytes are in cmd/output/text.c. */
static const struct {
    const char             *text;
    double                  scale;
    enum sxs_condition_unit unit;
} units[] = {
    {"", 1, SXS_CONDITION_COUNT},  {"%", 1, SXS_CONDITION_PERCENT}, {"ns", 1, SXS_CONDITION_NS},
    {"us", 1e3, SXS_CONDITION_NS}, {"ms", 1e6, SXS_CONDITION_NS},   {"s", 1e9, SXS_CONDITION_NS},
};

/* Writes what is wrong at a place of the text, with the text from there on. */
static int wrong(const char *text, const char *at, char *why, size_t size, const char *expected)
{
    if (*at)
        snprintf(why, size, "at character %zu, '%.80s': expected %s", (size_t)(at - text) + 1, at,
                 expected);
    else
        snprintf(why, size, "at its end: expected %s", expected);
    return -EINVAL;
}

static const char *skip_spaces(const char *at)
{
    return at + strspn(at, " ");
}

/* Reads the pattern, which ends before @end. */
static int parse_pattern(const char *text, const char *at, const char *end,
                         struct sxs_condition *out, char *why, size_t size)
{
    char        whole[sizeof(out->pattern.version) + sizeof(out->pattern.assembly) +
               sizeof(out->pattern.name)];
    size_t      len = (size_t)(end - at);
    const char *colon = memchr(at, ':', len);
    out->any_assembly = !colon || colon[1] == ':'; /* names of C++ have "::" */
    int n = snprintf(whole, sizeof(whole), "%s%.*s", out->any_assembly ? "*:" : "",
                     (int)(len < 4096 ? len : 4096), at);
    if (!len || (size_t)n >= sizeof(whole) ||
        sxs_calls_pattern(whole, (size_t)n, &out->pattern) != 0)
        return wrong(text, at, why, size,
                     "NAME, ASSEMBLY:NAME or VERSION/ASSEMBLY:NAME in the brackets");
    return 0;
}

/* Reads the comparison. Returns what follows, or NULL. */
static const char *parse_comparison(const char *at, enum sxs_comparison *out)
{
    bool less = *at == '<', equal = less || *at == '>' ? at[1] == '=' : false;
    if (!less && *at != '>')
        return NULL;
    *out = less ? (equal ? SXS_NOT_MORE : SXS_LESS) : (equal ? SXS_AT_LEAST : SXS_MORE);
    return at + 1 + equal;
}

/* Reads a unit of @len bytes. */
static bool read_unit(const char *text, size_t len, struct sxs_condition *out)
{
    out->scale = (double)sxs_text_bytes_unit(text, len);
    out->unit = SXS_CONDITION_BYTES;
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]) && !(out->scale > 0); i++)
        if (strlen(units[i].text) == len && strncmp(units[i].text, text, len) == 0) {
            out->unit = units[i].unit;
            out->scale = units[i].scale;
        }
    if (!(out->scale > 0) || len >= sizeof(out->unit_text))
        return false;
    memcpy(out->unit_text, text, len);
    out->unit_text[len] = '\0';
    return true;
}

static int parse_bound(const char *text, const char *at, struct sxs_condition *out, char *why,
                       size_t size)
{
    char        digits[32] = "";
    size_t      len = strspn(at, "0123456789.");
    char       *end;
    const char *after = skip_spaces(at + len);
    if (!len || len >= sizeof(digits) || at[0] == '.')
        return wrong(text, at, why, size, "a number");
    memcpy(digits, at, len);
    out->bound = sxs_strtod(digits, &end);
    if (*end)
        return wrong(text, at, why, size, "a number");
    size_t unit_len = strcspn(after, " ");
    if (*skip_spaces(after + unit_len))
        return wrong(text, skip_spaces(after + unit_len), why, size, "nothing more");
    if (!read_unit(after, unit_len, out))
        return wrong(text, after, why, size, "%, ns, us, ms, s, B, KiB, MiB, GiB or no unit");
    out->bound *= out->scale;
    if (out->unit == SXS_CONDITION_PERCENT && out->bound > 100)
        return wrong(text, at, why, size, "at most 100 %");
    return 0;
}

int sxs_condition_parse(const char *text, struct sxs_condition *out, char *why, size_t size)
{
    const char *at = skip_spaces(text), *close = strrchr(text, ')');
    *out = (struct sxs_condition){.total = strncmp(at, "total(", 6) == 0};
    if (!out->total && strncmp(at, "self(", 5) != 0)
        return wrong(text, at, why, size, "self(PATTERN) or total(PATTERN)");
    const char *begin = strchr(at, '(') + 1;
    if (!close)
        return wrong(text, text + strlen(text), why, size, "')' after the pattern");
    int err = parse_pattern(text, begin, close, out, why, size);
    if (err)
        return err;
    snprintf(out->what, sizeof(out->what), "%.*s", (int)(close + 1 - at), at);
    at = skip_spaces(close + 1);
    const char *bound = parse_comparison(at, &out->comparison);
    if (!bound)
        return wrong(text, at, why, size, "<, <=, > or >=");
    return parse_bound(text, skip_spaces(bound), out, why, size);
}

bool sxs_condition_pattern_fits(const struct sxs_condition *c, const char *version,
                                const char *assembly, const char *name)
{
    return sxs_calls_pattern_assembly(&c->pattern, version, assembly) &&
           sxs_calls_pattern_name(&c->pattern, name);
}

/* ---- verdicts -------------------------------------------------------------------------------- */

static bool holds(const struct sxs_condition *c, double v)
{
    switch (c->comparison) {
    case SXS_LESS: return v < c->bound;
    case SXS_NOT_MORE: return v <= c->bound;
    case SXS_MORE: return v > c->bound;
    default: return v >= c->bound;
    }
}

enum sxs_verdict sxs_condition_decide(const struct sxs_condition *c, const struct sxs_measured *v)
{
    bool low = holds(c, v->low), high = holds(c, v->high);
    return low != high ? SXS_UNDECIDED : low ? SXS_MET : SXS_NOT_MET;
}

struct sxs_measured sxs_condition_share(double share, double n)
{
    double z2 = QUANTILE * QUANTILE, mid = (share + z2 / (2 * n)) / (1 + z2 / n);
    double half = QUANTILE / (1 + z2 / n) * sqrt(share * (1 - share) / n + z2 / (4 * n * n));
    double low = share > 0 ? mid - half : 0, high = share < 1 ? mid + half : 1;
    return (struct sxs_measured){share, low > 0 ? low : 0, high < 1 ? high : 1};
}

/* ---- text ------------------------------------------------------------------------------------ */

/* Writes a value in the unit of the bound, with as many digits as tell it from the bound. */
static void put_value(const struct sxs_condition *c, double v, char *buf, size_t size)
{
    double shown = v / c->scale, of_bound = c->bound / c->scale;
    char   digits[64] = "", bound[64] = "";
    int    least = shown >= 1000 ? (int)log10(shown) + 1 : 3; /* no exponent */
    if (isinf(v)) {
        snprintf(buf, size, "an unknown value");
        return;
    }
    for (int n = least < 17 ? least : 17; n <= 17; n++) {
        snprintf(digits, sizeof(digits), "%.*g", n, shown);
        snprintf(bound, sizeof(bound), "%.*g", n, of_bound);
        if (v == c->bound || strcmp(digits, bound) != 0)
            break;
    }
    snprintf(buf, size, "%s%s%s", digits, *c->unit_text ? " " : "", c->unit_text);
}

const char *sxs_condition_say(const struct sxs_condition *c, const struct sxs_measured *v,
                              char *buf, size_t size)
{
    static const char *const comparisons[] = {"less than", "at most", "more than", "at least"};
    char                     value[96], low[96], high[96], bound[96];
    put_value(c, v->value, value, sizeof(value));
    put_value(c, v->low, low, sizeof(low));
    put_value(c, v->high, high, sizeof(high));
    snprintf(bound, sizeof(bound), "%.15g%s%s", c->bound / c->scale, *c->unit_text ? " " : "",
             c->unit_text);
    if (sxs_condition_decide(c, v) == SXS_UNDECIDED)
        snprintf(buf, size,
                 "%s is %s (%s to %s in 19 of 20 runs), which does not decide whether it is %s %s",
                 c->what, value, low, high, comparisons[c->comparison], bound);
    else
        snprintf(buf, size, "%s is %s, %s %s", c->what, value, comparisons[c->comparison], bound);
    return buf;
}
