/* SPDX-License-Identifier: MIT */
/* sxsprof: find the verb and call its function. */
#include "cmd/command.h"

#include <argp.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    const char *full_name; /* beginning of the verb's messages */
    int (*run)(int argc, char **argv);
    const char *summary;
} verbs[] = {
    {"run", "sxsprof run", sxs_cmd_run, "run a command with its .NET runtimes profiled"},
    {"report", "sxsprof report", sxs_cmd_report, "say what a recorded session did, and draw it"},
    {"diff", "sxsprof diff", sxs_cmd_diff, "draw what changed between two sessions"},
    {"pack", "sxsprof pack", sxs_cmd_pack, "write a session with its names to one file"},
    {"runtimes", "sxsprof runtimes", sxs_cmd_runtimes, "list the .NET runtimes installed here"},
    {"doctor", "sxsprof doctor", sxs_cmd_doctor,
     "say what will be profiled, and what stands in the way"},
    {"check", "sxsprof check", sxs_cmd_check,
     "say what is wrong with instrumentation files, and what they match"},
    {"il", "sxsprof il", sxs_cmd_il, "print an assembly's IL, checked"},
};
#define N_VERBS (sizeof(verbs) / sizeof(verbs[0]))

static void usage(FILE *to)
{
    fputs("Usage: sxsprof VERB [OPTION...] [ARGUMENT...]\n"
          "Profiles processes that host several .NET runtimes side by side.\n\n",
          to);
    for (size_t i = 0; i < N_VERBS; i++)
        fprintf(to, "  %-10s %s\n", verbs[i].name, verbs[i].summary);
    fputs("\n  sxsprof VERB --help tells more of each; so does the manual page sxsprof(1).\n"
          "  sxsprof --version prints the version.\n",
          to);
}

int main(int argc, char **argv)
{
    static char name[32]; /* static, because argp keeps the pointer until the process ends */
    argp_err_exit_status = SXS_EXIT_USAGE;
    if (argc < 2) {
        usage(stderr);
        return SXS_EXIT_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-?") == 0 ||
        strcmp(argv[1], "help") == 0) {
        usage(stdout);
        return sxs_finish_output();
    }
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
        puts("sxsprof " SXS_VERSION);
        return sxs_finish_output();
    }
    for (size_t i = 0; i < N_VERBS; i++)
        if (strcmp(argv[1], verbs[i].name) == 0) {
            snprintf(name, sizeof(name), "%s", verbs[i].full_name);
            argv[1] = name;
            return verbs[i].run(argc - 1, argv + 1);
        }
    return sxs_wrong_input(
        "%s '%s': expected run, report, diff, pack, runtimes, doctor, check or il (sxsprof --help)",
        argv[1][0] == '-' ? "unknown option" : "unknown verb", argv[1]);
}
