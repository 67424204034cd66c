/* SPDX-License-Identifier: MIT */
#include "cmd/argument.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/newest.h"

enum sxs_format sxs_format_argument(struct argp_state *state, const char *text)
{
    bool json = strcmp(text, "json") == 0;
    if (!json && strcmp(text, "text") != 0)
        argp_error(state, "--format: '%s': expected text or json", text);
    return json ? SXS_FORMAT_JSON : SXS_FORMAT_TEXT;
}

error_t sxs_format_parser(int key, char *arg, struct argp_state *state)
{
    enum sxs_format *format = state->input;
    switch (key) {
    case 'f': *format = sxs_format_argument(state, arg); return 0;
    case ARGP_KEY_ARG: argp_error(state, "'%s': no argument is expected", arg); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

unsigned long sxs_number_argument(struct argp_state *state, const char *option, const char *text)
{
    char         *end;
    unsigned long n = strtoul(text, &end, 10);
    if (end == text || *end || n == 0 || n > 1000000)
        argp_error(state, "%s: '%s': expected a number from 1 to 1000000", option, text);
    return n;
}

/* Returns the milliseconds of @unit ("" is seconds); 0: there is no such unit. */
static uint64_t unit_ms(const char *unit)
{
    static const struct {
        const char *name;
        uint64_t    ms;
    } units[] = {{"", 1000}, {"ms", 1}, {"s", 1000}, {"m", 60000}, {"h", 3600000}, {"d", 86400000}};
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
        if (strcmp(unit, units[i].name) == 0)
            return units[i].ms;
    return 0;
}

uint64_t sxs_duration_argument(struct argp_state *state, const char *option, const char *text)
{
    static const uint64_t year = UINT64_C(366) * 86400000;
    char                 *end;
    unsigned long long    n = strtoull(text, &end, 10);
    uint64_t              unit = unit_ms(end);
    if (*text < '0' || *text > '9' || n == 0 || !unit || n > year / unit)
        argp_error(state,
                   "%s: '%s': expected a duration, as 30s, 500ms, 10m, 2h or 1d, at most a year",
                   option, text);
    return n * unit;
}

const char *sxs_page_format(struct argp_state *state, const char *format, bool open)
{
    if (open && format && strcmp(format, "html") != 0)
        argp_error(state, "--open: expected --format html, not %s", format);
    return format ? format : open ? "html" : "text";
}

const char *sxs_newest_argument(struct argp_state *state, const char *what, const char *expected)
{
    static char newest[NAME_MAX + 1];
    if (sxs_newest_session(newest, sizeof(newest)) != 0)
        argp_error(state, "%s is missing, and no session is in the current folder; expected %s",
                   what, expected);
    sxs_complain("the newest session is %s", newest);
    return newest;
}

error_t sxs_process_argument(int key, char *arg, struct argp_state *state, const char **process)
{
    switch (key) {
    case ARGP_KEY_ARG:
        if (*process)
            argp_error(state, "'%s': expected one process", arg);
        *process = arg;
        return 0;
    case ARGP_KEY_END:
        if (!*process)
            argp_error(state, "PID is missing: expected a process (sxsprof ps lists them)");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}
