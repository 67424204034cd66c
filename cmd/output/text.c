/* SPDX-License-Identifier: MIT */
#include "cmd/output/text.h"
#include "base/env.h"
#include "base/text/utf8.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

void sxs_text_clean(const char *in, char *out, size_t size)
{
    size_t at = 0, left = strlen(in);
    while (left) {
        uint32_t    c;
        size_t      take = sxs_utf8_next(in, left, &c), len = take;
        const char *piece = in;
        if (!take || sxs_utf16_is_half(c))
            piece = "\xEF\xBF\xBD", len = 3, take = 1;
        else if (!sxs_is_displayed(c))
            piece = "?", len = 1;
        if (at + len >= size)
            break;
        memcpy(out + at, piece, len);
        at += len;
        in += take;
        left -= take;
    }
    out[at] = '\0';
}

void sxs_text_cut(char *s, size_t columns)
{
    size_t n = 0, keep = 0;
    size_t dots = columns > 3 ? 3 : 0;
    for (size_t i = 0; s[i]; i++) {
        if (!sxs_utf8_begins(s[i]))
            continue;
        if (n == columns - dots)
            keep = i;
        if (n++ == columns) {
            strcpy(s + keep, dots ? "..." : "");
            return;
        }
    }
}

size_t sxs_text_width(const char *s)
{
    size_t n = 0;
    for (; *s; s++)
        n += sxs_utf8_begins(*s);
    return n;
}

size_t sxs_text_columns(FILE *to)
{
    struct winsize w;
    if (ioctl(fileno(to), TIOCGWINSZ, &w) == 0 && w.ws_col > 0)
        return w.ws_col;
    const char *columns = sxs_env_named("COLUMNS");
    long        n = columns ? strtol(columns, NULL, 10) : 0;
    return n > 0 && n < 10000 ? (size_t)n : 80;
}

const char *sxs_text_duration(uint64_t ns, char *buf, size_t size)
{
    static const struct {
        double      unit;
        const char *name;
    } units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}};
    const double hours = (double)ns / 3600e9;
    if (hours >= 2) {
        snprintf(buf, size, hours >= 48 ? "%.1f d" : "%.1f h", hours >= 48 ? hours / 24 : hours);
        return buf;
    }
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if ((double)ns >= units[i].unit) {
            snprintf(buf, size, "%.2f %s", (double)ns / units[i].unit, units[i].name);
            return buf;
        }
    }
    if (ns)
        snprintf(buf, size, "%llu ns", (unsigned long long)ns);
    else
        snprintf(buf, size, "-");
    return buf;
}

static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};

uint64_t sxs_text_bytes_unit(const char *text, size_t len)
{
    for (unsigned unit = 0; unit < 4; unit++)
        if (strlen(units[unit]) == len && strncmp(units[unit], text, len) == 0)
            return UINT64_C(1) << (10 * unit);
    return 0;
}

const char *sxs_text_bytes(double bytes, char *buf, size_t size)
{
    const unsigned most = sizeof(units) / sizeof(units[0]) - 1;
    unsigned       unit = 0;
    /* From these limits on, rounding would print a whole next unit. */
    for (; unit < most && fabs(bytes) >= (unit ? 1023.995 : 1023.5); unit++)
        bytes /= 1024;
    snprintf(buf, size, unit ? "%.2f %s" : "%.0f %s", bytes, units[unit]);
    return buf;
}

bool sxs_text_ends(const char *s, const char *end)
{
    size_t n = strlen(s), m = strlen(end);
    return n >= m && strcmp(s + n - m, end) == 0;
}

const char *sxs_text_count(uint64_t n, const char *one, char *buf, size_t size)
{
    size_t len = strlen(one);
    if (n == 1)
        snprintf(buf, size, "1 %s", one);
    else if (len > 1 && one[len - 1] == 'y' && !strchr("aeou", one[len - 2]))
        snprintf(buf, size, "%" PRIu64 " %.*sies", n, (int)len - 1, one);
    else
        snprintf(buf, size, "%" PRIu64 " %s%s", n, one,
                 sxs_text_ends(one, "s") || sxs_text_ends(one, "x") || sxs_text_ends(one, "ch") ? "es"
                                                                                                : "s");
    return buf;
}
