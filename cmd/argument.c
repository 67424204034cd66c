/* SPDX-License-Identifier: MIT */
#include "cmd/argument.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/command.h"
#include "cmd/newest.h"

unsigned long sxs_number_argument(struct argp_state *state, const char *option, const char *text)
{
    char         *end;
    unsigned long n = strtoul(text, &end, 10);
    if (end == text || *end || n == 0 || n > 1000000)
        argp_error(state, "%s: '%s': expected a number from 1", option, text);
    return n;
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
