/* SPDX-License-Identifier: MIT */
/* sxsprof: find the verb and call its function. */
#include "cmd/child.h"
#include "cmd/command.h"
#include "cmd/completion.h"
#include "cmd/output/print.h"
#include "cmd/verbs.h"

#include <stdio.h>
#include <string.h>

/* The titles of the groups of verbs, by enum sxs_verb_group. */
static const char *const groups[] = {
    [SXS_VERBS_RECORD] = "Record: sxsprof WHAT [OPTION...] (-- COMMAND... | -p PID|NAME)",
    [SXS_VERBS_CONTROL] = "Sessions of a process that runs: sxsprof VERB PID|NAME",
    [SXS_VERBS_READ] = "Look at what was recorded: sxsprof VERB [OPTION...] [DIR]",
    [SXS_VERBS_FLEET] = "Many machines",
    [SXS_VERBS_SETUP] = "Around it",
};

static void print_usage(FILE *to)
{
    fputs("Usage: sxsprof WHAT [OPTION...] (-- COMMAND... | -p PID|NAME | DIR)\n"
          "Profile .NET programs, also those that load several runtimes.\n\n"
          "    sxsprof sample -p shop -d 30s -o shop.html   a picture of a process that runs\n"
          "    sxsprof alloc -o shop -- dotnet shop.dll     a session of a program that it "
          "starts\n\n",
          to);
    for (size_t g = 0; g < sizeof(groups) / sizeof(groups[0]); g++) {
        fputs(g ? "\n" : "", to);
        sxs_print_to(to, "%s\n", groups[g]);
        for (size_t i = 0; i < sxs_n_verbs; i++)
            if (sxs_verbs[i].group == g)
                sxs_print_to(to, "  %-10s %s\n", sxs_verbs[i].name, sxs_verbs[i].summary);
    }
    fputs("\n"
          "sxsprof help VERB prints the options of a verb; the manual page sxsprof(1) tells more.\n"
          "sxsprof --version prints version and commit.\n",
          to);
}

/* Returns true when @arg is one of @names, which ends with NULL. */
static bool is_one_of(const char *arg, const char *const *names)
{
    for (; *names; names++)
        if (strcmp(arg, *names) == 0)
            return true;
    return false;
}

static const char *const help_options[] = {"--help", "-h", "-?", NULL};
static const char *const version_options[] = {"--version", "-V", NULL};

static int unknown_verb(const char *name)
{
    const char *similar = sxs_verb_similar(name);
    return sxs_wrong_input("%s '%s': %s%s%s", *name == '-' ? "unknown option" : "unknown verb",
                           name, similar ? "did you mean " : "", similar ? similar : "",
                           similar ? "? sxsprof --help lists the verbs"
                                   : "expected one of those that sxsprof --help lists");
}

static int print_version(void)
{
    sxs_print("%s\n", sxs_version());
    return sxs_finish_output();
}

/* sxsprof help [VERB] */
static int print_help(int argc, char **argv)
{
    static char            option[] = "--help";
    const struct sxs_verb *verb;
    if (argc > 2)
        return sxs_wrong_input("help: '%s': expected one verb", argv[2]);
    if (argc == 2 && is_one_of(argv[1], version_options))
        return print_version();
    if (argc == 2 && !is_one_of(argv[1], help_options)) {
        verb = sxs_verb_find(argv[1]);
        if (!verb)
            return unknown_verb(argv[1]);
        if (verb->run) {
            char *help[] = {NULL, option, NULL};
            return sxs_verb_run(verb, 2, help);
        }
    }
    print_usage(stdout);
    return sxs_finish_output();
}

int main(int argc, char **argv)
{
    sxs_child_keep_status();
    if (argc < 2) {
        print_usage(stderr);
        return SXS_EXIT_USAGE;
    }
    if (is_one_of(argv[1], help_options))
        return print_help(1, argv);
    if (is_one_of(argv[1], version_options))
        return print_version();
    if (strcmp(argv[1], "--completion") == 0) /* for the build */
        return sxs_print_completion(argc > 2 ? argv[2] : "");
    const struct sxs_verb *verb = sxs_verb_find(argv[1]);
    if (!verb)
        return unknown_verb(argv[1]);
    return verb->run ? sxs_verb_run(verb, argc - 1, argv + 1) : print_help(argc - 1, argv + 1);
}
