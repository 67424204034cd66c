/* SPDX-License-Identifier: MIT */
/* options.c - reads the command line of runsxs. */
#include "harness/options.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TIMEOUT_MAX = 1000000 }; /* seconds, eleven days: a larger value is a typing error */

static const char usage[] =
    "usage: runsxs [/st | --turns] [--bridge] [--churn WORDS] [--timeout SECONDS]\n"
    "              VERSION APP \"ARGS\" [VERSION APP \"ARGS\"]...\n";

static const char help[] =
    "Runs .NET apps in one process, each in a runtime (CLR) of its own.\n"
    "\n"
    "VERSION  8, 9.0, 10.0.11: the highest runtime whose version begins so, among those in\n"
    "         runtimes/ beside runsxs and those installed with dotnet;\n"
    "         a directory with libcoreclr.so in it; or\n"
    "         fake:VERSION, the simulated runtime in fakeclr/VERSION/ beside runsxs.\n"
    "         The same runtime may be named several times.\n"
    "APP      path of a dll, or NAME for managed/NAME/NAME.dll beside runsxs\n"
    "         (given to a simulated runtime as it is).\n"
    "ARGS     the app's arguments in one word, split as a shell would; \"\" for none.\n"
    "\n"
    "/st                one after the other, each ends before the next starts\n"
    "                   (otherwise all start at the same instant, on threads of their own)\n"
    "--turns            all at once, but taking turns in coreclr_initialize\n"
    "--bridge           load libsxsbridge.so, through which the apps call each other\n"
    "--churn WORDS      stress beside the apps, so much a second: threads=N loads=N forks=N "
    "execs=N\n"
    "                   spawns=N, and waiters=N threads that count EINTR; a line tells what was "
    "done\n"
    "--timeout SECONDS  name the runtimes that have not ended by then, and end with status 124\n"
    "--help             print this\n"
    "\n"
    "Prints a line for each runtime when all have ended:\n"
    "    runsxs: INDEX VERSION APP result=EXIT-CODE-OR-ERROR time=SECONDS\n"
    "Exit status: 0 all ended with exit code 0, 1 some did not, 2 wrong usage, 124 timeout.\n";

__attribute__((format(printf, 1, 2))) static enum sxs_options_next wrong(const char *fmt, ...)
{
    va_list args;

    fputs("runsxs: ", stderr);
    va_start(args, fmt);
    vfprintf(stderr, fmt, args);
    va_end(args);
    fprintf(stderr, "\n%s", usage);
    return SXS_OPTIONS_WRONG;
}

static bool parse_seconds(const char *text, unsigned *out)
{
    char *end;

    errno = 0;
    long value = strtol(text, &end, 10);
    if (errno || end == text || *end || value < 1 || value > TIMEOUT_MAX)
        return false;
    *out = (unsigned)value;
    return true;
}

static enum sxs_options_next parse_jobs(int argc, char **argv, struct sxs_options *out)
{
    if (argc == 0)
        return wrong("no runtime given, expected VERSION APP \"ARGS\"");
    if (argc % 3)
        return wrong(
            "expected VERSION APP \"ARGS\" for each runtime (\"\" when there are no ARGS), "
            "the last one has only %d of the 3",
            argc % 3);
    out->n_jobs = (size_t)argc / 3;
    out->jobs = calloc(out->n_jobs, sizeof(*out->jobs));
    if (!out->jobs)
        return wrong("no memory for %zu runtimes", out->n_jobs);
    for (size_t i = 0; i < out->n_jobs; i++)
        out->jobs[i] = (struct app_job){argv[3 * i], argv[3 * i + 1], argv[3 * i + 2]};
    return SXS_OPTIONS_RUN;
}

enum sxs_options_next sxs_options_parse(int argc, char **argv, struct sxs_options *out)
{
    int i = 1;

    memset(out, 0, sizeof(*out));
    for (; i < argc; i++) {
        const char *arg = argv[i];
        if (!strcmp(arg, "/st")) {
            out->serial = true;
        } else if (!strcmp(arg, "--turns")) {
            out->turns = true;
        } else if (!strcmp(arg, "--bridge")) {
            out->bridge = true;
        } else if (!strcmp(arg, "--churn")) {
            if (i + 1 == argc)
                return wrong("--churn wants words such as 'threads=1000 forks=5'");
            out->churn = argv[++i];
        } else if (!strcmp(arg, "--timeout")) {
            if (i + 1 == argc || !parse_seconds(argv[i + 1], &out->timeout))
                return wrong("--timeout wants whole seconds from 1 to %d, not '%s'", TIMEOUT_MAX,
                             i + 1 == argc ? "" : argv[i + 1]);
            i++;
        } else if (!strcmp(arg, "--help")) {
            printf("%s\n%s", usage, help);
            return SXS_OPTIONS_DONE;
        } else if (arg[0] == '-') {
            return wrong(
                "unknown option '%s', expected /st, --turns, --bridge, --churn, --timeout or --help", arg);
        } else {
            break;
        }
    }
    if (out->serial && out->turns)
        return wrong("/st and --turns exclude each other: /st never has two runtimes at once");
    if (out->serial && out->bridge)
        return wrong("/st and --bridge exclude each other: apps can only call apps that run");
    return parse_jobs(argc - i, argv + i, out);
}

void sxs_options_free(struct sxs_options *options)
{
    free(options->jobs);
    options->jobs = NULL;
}
