/* SPDX-License-Identifier: MIT */
#include "cmd/fleet/when.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int64_t LATEST = UINT32_MAX; /* DateTime of ClickHouse has 32 bits */

/* Reads "2h", "3 days" and moves *at past it. Returns 0 or -1. */
static int read_duration(const char **at, int64_t *out)
{
    static const struct {
        const char *name;
        int64_t     seconds;
    } units[] = {{"seconds", 1}, {"second", 1},     {"s", 1},         {"minutes", 60},
                 {"minute", 60}, {"min", 60},       {"m", 60},        {"hours", 3600},
                 {"hour", 3600}, {"h", 3600},       {"days", 86400},  {"day", 86400},
                 {"d", 86400},   {"weeks", 604800}, {"week", 604800}, {"w", 604800}};
    char     *end;
    long long n = **at >= '0' && **at <= '9' ? strtoll(*at, &end, 10) : -1;
    if (n < 1 || n > LATEST)
        return -1;
    end += strspn(end, " ");
    size_t len = strspn(end, "abcdefghijklmnopqrstuvwxyz");
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
        if (strlen(units[i].name) == len && strncmp(units[i].name, end, len) == 0) {
            *out = n * units[i].seconds;
            *at = end + len;
            return *out <= LATEST ? 0 : -1;
        }
    return -1;
}

int sxs_fleet_duration(const char *text, int64_t *out)
{
    return read_duration(&text, out) == 0 && !*text ? 0 : -1;
}

static int64_t midnight(time_t now, int days)
{
    struct tm day;
    localtime_r(&now, &day);
    day.tm_mday += days;
    day.tm_hour = day.tm_min = day.tm_sec = 0;
    day.tm_isdst = -1;
    return mktime(&day);
}

/* Reads "Z", "+01:00" or nothing. Returns 0, 1 if there is a zone, or -1. @east: seconds. */
static int read_zone(const char *at, int64_t *east)
{
    unsigned hours, minutes;
    char     sign;
    int      n = -1;
    *east = 0;
    if (!*at)
        return 0;
    if (strcmp(at, "Z") == 0)
        return 1;
    if (sscanf(at, "%c%2u:%2u%n", &sign, &hours, &minutes, &n) != 3 || n != 6 || at[n] ||
        !strchr("+-", sign) || hours > 14 || minutes > 59)
        return -1;
    *east = (int64_t)(hours * 3600 + minutes * 60) * (sign == '-' ? -1 : 1);
    return 1;
}

/* Returns true when the fields are a date and a time that exist. */
static bool is_date(const struct tm *t)
{
    struct tm same = *t;
    timegm(&same);
    return same.tm_mday == t->tm_mday && same.tm_mon == t->tm_mon && same.tm_hour == t->tm_hour &&
           same.tm_min == t->tm_min && same.tm_sec == t->tm_sec;
}

static int read_date(const char *text, int64_t *out)
{
    struct tm t = {.tm_isdst = -1};
    int       n = 0, more = 0;
    int64_t   east;
    if (strspn(text, "0123456789") != 4 ||
        sscanf(text, "%4d-%2d-%2d%n", &t.tm_year, &t.tm_mon, &t.tm_mday, &n) != 3)
        return -1;
    t.tm_year -= 1900;
    t.tm_mon--;
    if (text[n] == 'T' || text[n] == ' ') {
        text += n + 1;
        if (sscanf(text, "%2d:%2d%n", &t.tm_hour, &t.tm_min, &n) != 2)
            return -1;
        if (text[n] == ':' && sscanf(text + n, ":%2d%n", &t.tm_sec, &more) != 1)
            return -1;
    }
    int zone = read_zone(text + n + more, &east);
    if (zone < 0 || !is_date(&t))
        return -1;
    *out = zone ? timegm(&t) - east : mktime(&t);
    return 0;
}

/* Reads "2h ago". */
static int read_ago(const char *text, time_t now, int64_t *out)
{
    int64_t ago;
    if (read_duration(&text, &ago) != 0 || strcmp(text, " ago") != 0)
        return -1;
    *out = now - ago;
    return 0;
}

static int read_when(const char *text, time_t now, int64_t *out)
{
    if (strcmp(text, "now") == 0)
        *out = now;
    else if (strcmp(text, "today") == 0)
        *out = midnight(now, 0);
    else if (strcmp(text, "yesterday") == 0)
        *out = midnight(now, -1);
    else if (text[0] == '@' && text[1] && strspn(text + 1, "0123456789") == strlen(text + 1))
        *out = strlen(text) < 12 ? strtoll(text + 1, NULL, 10) : -1;
    else
        return read_ago(text, now, out) == 0 ? 0 : read_date(text, out);
    return 0;
}

int sxs_fleet_when(const char *text, time_t now, int64_t *out)
{
    return read_when(text, now, out) == 0 && *out >= 0 && *out <= LATEST ? 0 : -1;
}
