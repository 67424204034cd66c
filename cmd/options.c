/* SPDX-License-Identifier: MIT */
/* Parses the options that every verb has: help and version. */
#include "cmd/command.h"
#include "cmd/output/cleaned_stream.h"
#include "sxs_commit.h"

#include <argp.h>
#include <stdio.h>

#ifndef SXS_VERSION
#define SXS_VERSION "0.1.0"
#endif

const char *sxs_version(void)
{
    return "sxsprof " SXS_VERSION " (" SXS_COMMIT ")";
}

/* Handles -h. argp itself adds --help, -?, --usage, --version and -V. */
static error_t parse(int key, char *arg, struct argp_state *state)
{
    (void)arg;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = state->input; return 0;
    case 'h': argp_state_help(state, state->out_stream, ARGP_HELP_STD_HELP); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

void sxs_options_parse(const struct argp *argp, int argc, char **argv, unsigned flags, void *input)
{
    static const struct argp_option help[] = {{NULL, 'h', NULL, OPTION_HIDDEN, NULL, -1}, {0}};
    const struct argp_child         verb[] = {{argp, 0, NULL, 0}, {0}};
    const struct argp               whole = {.options = help, .parser = parse, .children = verb};
    argp_err_exit_status = SXS_EXIT_USAGE;
    argp_program_version = sxs_version();
    /* getopt() repeats arguments as they are, and knows no stream but this variable. */
    FILE *errors = stderr, *cleaned = sxs_cleaned_stream(errors, argv[0]);
    if (cleaned)
        stderr = cleaned;
    argp_parse(&whole, argc, argv, flags, NULL, input);
    stderr = errors;
    if (cleaned)
        fclose(cleaned);
}
