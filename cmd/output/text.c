/* SPDX-License-Identifier: MIT */
#include "cmd/output/text.h"
#include "base/env.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

/* Returns the length in bytes of the well-formed UTF-8 character at @s (Unicode table 3-7), or 0
 * when there is none. */
static size_t utf8_len(const unsigned char *s)
{
    static const struct {
        unsigned char first_min, first_max, second_min, second_max, len;
    } rows[] = {
        {0x01, 0x7F, 0x00, 0x00, 1}, {0xC2, 0xDF, 0x80, 0xBF, 2}, {0xE0, 0xE0, 0xA0, 0xBF, 3},
        {0xE1, 0xEC, 0x80, 0xBF, 3}, {0xED, 0xED, 0x80, 0x9F, 3}, {0xEE, 0xEF, 0x80, 0xBF, 3},
        {0xF0, 0xF0, 0x90, 0xBF, 4}, {0xF1, 0xF3, 0x80, 0xBF, 4}, {0xF4, 0xF4, 0x80, 0x8F, 4},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (s[0] < rows[i].first_min || s[0] > rows[i].first_max)
            continue;
        if (rows[i].len > 1 && (s[1] < rows[i].second_min || s[1] > rows[i].second_max))
            return 0;
        for (size_t k = 2; k < rows[i].len; k++)
            if ((s[k] & 0xC0) != 0x80)
                return 0;
        return rows[i].len;
    }
    return 0;
}

/* True for control characters of ASCII and of Latin-1 (U+0080 to U+009F). */
static bool is_control(const unsigned char *s)
{
    return s[0] < 0x20 || s[0] == 0x7F || (s[0] == 0xC2 && s[1] < 0xA0);
}

void sxs_text_clean(const char *in, char *out, size_t size)
{
    const unsigned char *s = (const unsigned char *)in;
    size_t at = 0;
    while (*s) {
        size_t      take = utf8_len(s);
        const char *piece = (const char *)s;
        size_t      len = take;
        if (!take)
            piece = "\xEF\xBF\xBD", len = 3, take = 1;
        else if (is_control(s))
            piece = "?", len = 1;
        if (at + len >= size)
            break;
        memcpy(out + at, piece, len);
        at += len;
        s += take;
    }
    out[at] = '\0';
}

void sxs_text_cut(char *s, size_t columns)
{
    size_t n = 0, keep = 0;
    size_t dots = columns > 3 ? 3 : 0;
    for (size_t i = 0; s[i]; i++) {
        if (((unsigned char)s[i] & 0xC0) == 0x80)
            continue;
        if (n == columns - dots)
            keep = i;
        if (n++ == columns) {
            strcpy(s + keep, dots ? "..." : "");
            return;
        }
    }
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
