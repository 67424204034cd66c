/* SPDX-License-Identifier: MIT */
#include "cmd/argument.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text/duration.h"
#include "cmd/newest.h"
#include "cmd/output/formats.h"
#include "cmd/output/print.h"

#define NS_PER_S  UINT64_C(1000000000)
#define NS_PER_MS UINT64_C(1000000)

enum sxs_format sxs_format_argument(struct argp_state *state, const char *text)
{
    bool json = strcmp(text, "json") == 0;
    if (!json && strcmp(text, "text") != 0)
        sxs_option_error(state, "--format: '%s': expected text or json", text);
    return json ? SXS_FORMAT_JSON : SXS_FORMAT_TEXT;
}

error_t sxs_format_parser(int key, char *arg, struct argp_state *state)
{
    enum sxs_format *format = state->input;
    switch (key) {
    case 'f': *format = sxs_format_argument(state, arg); return 0;
    case ARGP_KEY_ARG: sxs_option_error(state, "'%s': no argument is expected", arg); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

unsigned long sxs_number_argument(struct argp_state *state, const char *option, const char *text)
{
    char         *end;
    unsigned long n = strtoul(text, &end, 10);
    if (end == text || *end || n == 0 || n > 1000000)
        sxs_option_error(state, "%s: '%s': expected a number from 1 to 1000000", option, text);
    return n;
}

uint64_t sxs_duration_argument(struct argp_state *state, const char *option, const char *text)
{
    uint64_t ns = 0;
    if (sxs_duration_read(text, strlen(text), NS_PER_S, &ns) != 0 || !ns)
        sxs_option_error(state, "%s: '%s': expected " SXS_DURATION_EXPECTED, option, text);
    return ns / NS_PER_MS;
}

void sxs_check_terminal(struct argp_state *state, const char *format, const char *output)
{
    if (!sxs_format_is_readable(format) && (!output || strcmp(output, "-") == 0) &&
        isatty(STDOUT_FILENO))
        sxs_option_error(state,
                         "--format: standard output is a terminal, and %s is not for one: expected "
                         "-o FILE",
                         format);
}

const char *sxs_page_format(struct argp_state *state, const char *format, bool open,
                            const char *output)
{
    const char *ending = output ? sxs_format_of_file(output) : NULL;
    if (open && format && strcmp(format, "html") != 0)
        sxs_option_error(state, "--open: expected --format html, not %s", format);
    if (!format)
        format = open ? "html" : ending ? ending : "text";
    if (!open)
        sxs_check_terminal(state, format, output);
    return format;
}

const char *sxs_newest_argument(struct argp_state *state, const char *what, const char *expected)
{
    static char newest[NAME_MAX + 1];
    if (sxs_newest_session(newest, sizeof(newest)) != 0)
        sxs_option_error(state,
                         "%s is missing, and no session is in the current folder; expected %s",
                         what, expected);
    sxs_complain("the newest session is %s", newest);
    return newest;
}

error_t sxs_process_argument(int key, char *arg, struct argp_state *state, const char **process)
{
    switch (key) {
    case ARGP_KEY_ARG:
        if (*process)
            sxs_option_error(state, "'%s': expected one process", arg);
        *process = arg;
        return 0;
    case ARGP_KEY_END:
        if (!*process)
            sxs_option_error(state, "PID is missing: expected a process (sxsprof ps lists them)");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}
