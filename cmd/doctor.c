/* SPDX-License-Identifier: MIT */
/* sxsprof doctor: tell what would be profiled from this environment, and what prevents it. */
#include "cmd/command.h"
#include "cmd/doctor.h"

#include <argp.h>
#include <string.h>

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    char ***command = state->input;
    (void)arg;
    switch (key) {
    case ARGP_KEY_ARG: /* the command begins here; the rest belongs to it */
        *command = state->argv + state->next - 1;
        state->next = state->argc;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

const struct argp sxs_argp_doctor = {
    .parser = parse_option,
    .args_doc = "[-- COMMAND [ARGUMENT...]]",
    .doc = "Say which variables are set, which profiler wins and why, what is in conflict, and "
           "what to do about it. Does not start COMMAND.\v"
           "With COMMAND, says what kind of program it is and which runtime it would choose. Exit "
           "status 0 when all is well, 1 when a problem was found.",
};

static void examine_installed(const struct sxs_installed_list *list)
{
    sxs_found_title("Runtimes on this machine:");
    for (size_t i = 0; i < list->n; i++)
        sxs_found_ok("%s (%s) %s", list->items[i].version, list->items[i].kind,
                     list->items[i].path);
    if (list->n == 0) {
        sxs_found_note("none found; an app that brings its own is profiled nevertheless");
        sxs_found_advice("set DOTNET_ROOT when .NET lies in a place of its own");
    }
}

int sxs_cmd_doctor(int argc, char **argv)
{
    struct sxs_findings       found = {0};
    struct sxs_library        lib;
    struct sxs_installed_list installed;
    char                    **command = NULL;
    sxs_options_parse(&sxs_argp_doctor, argc, argv, ARGP_IN_ORDER, &command);

    int err = sxs_library_find(&lib);
    if (!err)
        err = sxs_installed_find(lib.bin_dir, &installed);
    if (err) {
        sxs_complain("%s", strerror(err));
        return SXS_EXIT_PROBLEM;
    }
    sxs_doctor_library(&found, &lib);
    sxs_doctor_variables();
    sxs_doctor_profiler(&found, &lib);
    sxs_doctor_preload(&found, &lib);
    sxs_doctor_settings(&found);
    sxs_doctor_guests(&found, &lib);
    sxs_doctor_methods(&found);
    sxs_doctor_system(&found);
    examine_installed(&installed);
    sxs_doctor_limits();
    if (command)
        sxs_doctor_command(&found, command, &installed);
    sxs_installed_free(&installed);

    if (found.n_problems)
        sxs_found_title(found.n_problems == 1 ? "1 problem was found." : "Problems were found.");
    else
        sxs_found_title("All is well.");
    return sxs_finish_output() || found.n_problems ? SXS_EXIT_PROBLEM : SXS_EXIT_OK;
}
