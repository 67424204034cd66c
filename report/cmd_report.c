/* SPDX-License-Identifier: MIT */
/* sxsprof report: the table of a session folder, as text or JSON, on stdout. */
#include "report/command.h"
#include "report/table.h"

#include <argp.h>
#include <string.h>

struct options {
    enum sxs_format format;
    const char     *dir;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct options *o = state->input;
    switch (key) {
    case 'f':
        if (sxs_format_parse(arg, &o->format) != 0)
            argp_error(state, "--format: '%s': expected text or json", arg);
        return 0;
    case ARGP_KEY_ARG:
        if (o->dir)
            argp_error(state, "one folder is expected, '%s' is one more", arg);
        o->dir = arg;
        return 0;
    case ARGP_KEY_END:
        if (!o->dir)
            argp_error(state, "DIR is missing: expected a folder made by sxsprof run -o DIR");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option option_list[] = {
    {"format", 'f', "text|json", 0, "A table for people (text, the default) or JSON", 0},
    {0},
};
static const struct argp argp = {
    .options = option_list,
    .parser = parse,
    .args_doc = "DIR",
    .doc = "Print what the runtimes of a recorded session did.\v"
           "DIR is a folder made by sxsprof run -o DIR. What cannot be read is named on standard "
           "error, the rest is printed and the exit status is 1.",
};

int sxs_cmd_report(int argc, char **argv)
{
    struct options     o = {SXS_FORMAT_TEXT, NULL};
    struct sxs_session s;
    argp_parse(&argp, argc, argv, 0, NULL, &o);

    int err = sxs_session_read(o.dir, &s);
    int status = SXS_EXIT_OK;
    if (err) {
        status = sxs_wrong_input("%s: %s; expected a folder made by sxsprof run -o DIR", o.dir,
                                 strerror(err));
        goto done;
    }
    for (size_t i = 0; i < s.n_problems; i++)
        sxs_complain("%s/%s", o.dir, s.problems[i]);
    if (s.n_processes == 0 && s.n_problems == 0) {
        status = sxs_wrong_input("%s: no session: it has no folder <pid> with a file "
                                 SXS_CENSUS_FILE "; expected a folder made by sxsprof run -o DIR",
                                 o.dir);
        goto done;
    }
    if (o.format == SXS_FORMAT_TEXT)
        sxs_table_print(stdout, &s);
    else if (sxs_table_json(stdout, &s) != 0)
        status = SXS_EXIT_PROBLEM;
    if (sxs_finish_output() != SXS_EXIT_OK || s.n_problems)
        status = SXS_EXIT_PROBLEM;
done:
    sxs_session_free(&s);
    return status;
}
