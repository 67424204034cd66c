/* SPDX-License-Identifier: MIT */
/* Parses the options that every verb has: help and version. */
#include "cmd/command.h"
#include "cmd/output/cleaned_stream.h"
#include "cmd/output/similar.h"
#include "sxs_commit.h"

#include <argp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

void sxs_options_each(const struct argp *argp,
                      void (*take)(const struct argp_option *option, void *arg), void *arg)
{
    const struct argp_option *o = argp->options;
    for (; o && (o->name || o->key || o->doc || o->group); o++)
        take(o, arg);
    for (const struct argp_child *child = argp->children; child && child->argp; child++)
        sxs_options_each(child->argp, take, arg);
}

/* ---- what was probably meant ---- */

#define MAX_NAMES 160

struct option_names {
    const struct argp_option *all[MAX_NAMES];
    size_t                    n;
};

static void add_name(const struct argp_option *o, void *arg)
{
    struct option_names *names = arg;
    if (o->name && names->n < MAX_NAMES)
        names->all[names->n++] = o;
}

/* Returns the only option, or the first one, whose name begins with @name, of @len bytes; NULL: none. */
static const struct argp_option *find(const struct option_names *names, const char *name,
                                      size_t len)
{
    for (size_t i = 0; i < names->n; i++)
        if (strncmp(names->all[i]->name, name, len) == 0)
            return names->all[i];
    return NULL;
}

static bool is_common(const char *name, size_t len)
{
    static const char *const common[] = {"help", "usage", "version"};
    for (size_t i = 0; i < sizeof(common) / sizeof(common[0]); i++)
        if (strncmp(common[i], name, len) == 0)
            return true;
    return false;
}

/* Ends the process when a long option does not exist, and says which one was probably meant. @flags: with
 * ARGP_IN_ORDER, options end at the first argument; a verb whose first argument is not a command is looked at
 * up to there, too: argp says what is wrong after it. */
static void check_names(const struct argp *argp, int argc, char **argv, unsigned flags)
{
    struct option_names names = {.n = 0};
    sxs_options_each(argp, add_name, &names);
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        size_t len = strcspn(argv[i], "=");
        if (argv[i][0] != '-' && (flags & ARGP_IN_ORDER))
            return;
        if (strncmp(argv[i], "--", 2) != 0 || argv[i][2] == '\0') {
            if (argv[i][0] == '-' &&
                argv[i][1]) /* of a letter: maybe the next word is its argument */
                i += argv[i][2] == '\0';
            continue;
        }
        const struct argp_option *o = find(&names, argv[i] + 2, len - 2);
        if (o && o->arg && !argv[i][len])
            i++;
        if (o || is_common(argv[i] + 2, len - 2))
            continue;
        const char *words[MAX_NAMES];
        char        name[64];
        snprintf(name, sizeof(name), "%.*s", (int)(len - 2), argv[i] + 2);
        for (size_t k = 0; k < names.n; k++)
            words[k] = names.all[k]->name;
        const char *similar = sxs_similar(name, words, names.n);
        if (!similar)
            continue; /* argp says so */
        exit(sxs_wrong_input("%s: there is no option --%s; did you mean --%s?",
                             strchr(argv[0], ' ') ? strchr(argv[0], ' ') + 1 : argv[0], name,
                             similar));
    }
}

void sxs_options_parse(const struct argp *argp, int argc, char **argv, unsigned flags, void *input)
{
    static const struct argp_option help[] = {{NULL, 'h', NULL, OPTION_HIDDEN, NULL, -1}, {0}};
    const struct argp_child         verb[] = {{argp, 0, NULL, 0}, {0}};
    const struct argp               whole = {.options = help, .parser = parse, .children = verb};
    check_names(argp, argc, argv, flags);
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
