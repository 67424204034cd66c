/* SPDX-License-Identifier: MIT */
#include "tools/options/tool_options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

size_t sxs_tool_key(const struct sxs_tool_option *row)
{
    return strcspn(row->syntax, "=[");
}

int sxs_choice(const char *choices, const char *value)
{
    size_t len = value ? strlen(value) : 0;
    for (int i = 0; len && *choices; i++) {
        size_t n = strcspn(choices, "|");
        if (n == len && memcmp(choices, value, len) == 0)
            return i;
        choices += n + (choices[n] == '|');
    }
    return -1;
}

int sxs_tool_number(const char *value, unsigned least, unsigned most, unsigned *out)
{
    char         *end;
    unsigned long n;
    if (!value || *value < '0' || *value > '9')
        return -1;
    n = strtoul(value, &end, 10);
    if (*end || n < least || n > most)
        return -1;
    *out = (unsigned)n;
    return 0;
}

int sxs_tool_bytes(const char *value, uint64_t least, uint64_t most, uint64_t *out)
{
    static const char  units[] = "kmg";
    const char        *unit;
    char              *end;
    unsigned long long n;
    unsigned           shift = 0;
    if (!value || *value < '0' || *value > '9')
        return -1;
    errno = 0;
    n = strtoull(value, &end, 10);
    unit = *end ? strchr(units, *end) : NULL;
    if (unit) {
        shift = 10 * (unsigned)(unit - units + 1);
        end++;
    }
    if (errno || *end || n > UINT64_MAX >> shift || n << shift < least || n << shift > most)
        return -1;
    *out = n << shift;
    return 0;
}

static const struct sxs_tool_option *find_row(const struct sxs_tool_table *t, const char *key,
                                              size_t len)
{
    for (size_t i = 0; i < t->n; i++)
        if (sxs_tool_key(&t->rows[i]) == len && memcmp(t->rows[i].syntax, key, len) == 0)
            return &t->rows[i];
    return NULL;
}

/* Writes that the tool has no option @item, and which options it has. */
static void put_unknown(const struct sxs_tool_table *t, const char *item, char *why, size_t size)
{
    int len = snprintf(why, size, "%s: no option of the tool %s; expected ", item, t->tool);
    for (size_t i = 0; i < t->n && len >= 0 && (size_t)len < size; i++)
        len += snprintf(why + len, size - (size_t)len, "%s%s",
                        i == 0          ? ""
                        : i == t->n - 1 ? " or "
                                        : ", ",
                        t->rows[i].syntax);
}

/* Reads one option "KEY" or "KEY=VALUE". Returns 0, or -1 with a sentence in @why. */
static int read_item(const struct sxs_tool_table *t, const char *item, void *out, char *why,
                     size_t size)
{
    size_t                        len = strcspn(item, "=");
    const struct sxs_tool_option *row = find_row(t, item, len);
    if (!row) {
        put_unknown(t, item, why, size);
        return -1;
    }
    if (row->read(row, item[len] ? item + len + 1 : NULL, out) == 0)
        return 0;
    snprintf(why, size, "%s: expected %s", item, row->expected);
    return -1;
}

int sxs_tool_parse(const struct sxs_tool_table *table, const char *text, void *out, char *why,
                   size_t size)
{
    while (*text) {
        char   item[64];
        size_t len = strcspn(text, ",");
        snprintf(item, sizeof(item), "%.*s", (int)len, text);
        if (len >= sizeof(item)) {
            snprintf(why, size, "%.40s...: expected at most 63 characters", item);
            return -1;
        }
        if (read_item(table, item, out, why, size))
            return -1;
        text += len + (text[len] == ',');
    }
    return 0;
}
