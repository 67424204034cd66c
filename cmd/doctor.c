/* SPDX-License-Identifier: MIT */
/* sxsprof doctor: tell what would be profiled from this environment, and what prevents it. */
#include "cmd/doctor.h"
#include "cmd/command.h"
#include "cmd/named_processes.h"
#include "cmd/output/print.h"

#include <argp.h>
#include <string.h>

struct doctor_options {
    char      **command; /* NULL: none */
    const char *process; /* NULL: none */
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct doctor_options *o = state->input;
    switch (key) {
    case 'p': o->process = arg; return 0;
    case ARGP_KEY_ARG: /* the command begins here; the rest belongs to it */
        o->command = state->argv + state->next - 1;
        state->next = state->argc;
        return 0;
    case ARGP_KEY_END:
        if (o->process && o->command)
            sxs_option_error(state, "'%s': expected either a command or -p, not both",
                             o->command[0]);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option option_list[] = {
    {"process", 'p', "PID|NAME", 0, "Say what can be recorded in this process, which runs already",
     0},
    {0},
};
const struct argp sxs_argp_doctor = {
    .options = option_list,
    .parser = parse_option,
    .args_doc = "[-- COMMAND [ARGUMENT...]]",
    .doc = "Say which variables are set, which profiler wins and why, what is in conflict, and "
           "what to do about it. Does not start COMMAND, and changes nothing in a process.\v"
           "With COMMAND, says what kind of program it is and which runtime it would choose; with "
           "-p, which "
           "runtimes of the process can be reached, and what the tools record in them. Exit "
           "status 0 when all is well, 1 when a problem was found.",
};

/* What counts for a process that runs: its own environment, not the one of this command. */
static int examine_process(struct sxs_findings *found, const struct sxs_library *lib,
                           const char *target)
{
    pid_t  pid;
    size_t n = 0;
    int    status = sxs_named_processes(target, false, &pid, 1, &n);
    if (status)
        return status;
    sxs_doctor_library(found, lib);
    sxs_doctor_process(found, lib, pid);
    sxs_doctor_system(found);
    sxs_doctor_limits();
    return SXS_EXIT_OK;
}

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

static void examine_command(struct sxs_findings *found, const struct sxs_library *lib,
                            char **command, const struct sxs_installed_list *installed)
{
    sxs_doctor_library(found, lib);
    sxs_doctor_variables();
    sxs_doctor_profiler(found, lib);
    sxs_doctor_preload(found, lib);
    sxs_doctor_settings(found);
    sxs_doctor_guests(found, lib);
    sxs_doctor_methods(found);
    sxs_doctor_system(found);
    examine_installed(installed);
    sxs_doctor_limits();
    if (command)
        sxs_doctor_command(found, command, installed);
}

int sxs_cmd_doctor(int argc, char **argv)
{
    struct sxs_findings       found = {0};
    struct sxs_library        lib;
    struct sxs_installed_list installed;
    struct doctor_options     o = {0};
    sxs_options_parse(&sxs_argp_doctor, argc, argv, ARGP_IN_ORDER, &o);

    int err = sxs_library_find(&lib);
    if (!err)
        err = sxs_installed_find(lib.bin_dir, &installed);
    if (err) {
        sxs_complain("%s", strerror(err));
        return SXS_EXIT_PROBLEM;
    }
    int status = SXS_EXIT_OK;
    if (o.process)
        status = examine_process(&found, &lib, o.process);
    else
        examine_command(&found, &lib, o.command, &installed);
    sxs_installed_free(&installed);
    if (status)
        return status;
    if (found.n_problems)
        sxs_found_title(found.n_problems == 1 ? "1 problem was found." : "Problems were found.");
    else
        sxs_found_title("All is well.");
    return sxs_finish_output() || found.n_problems ? SXS_EXIT_PROBLEM : SXS_EXIT_OK;
}
