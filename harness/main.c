/* SPDX-License-Identifier: MIT */
/* main.c - the command runsxs: runs .NET apps in one process, each in its own runtime. */
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "harness/churn_host.h"
#include "harness/options.h"
#include "harness/private_copy.h"
#include "harness/run.h"
#include "harness/self.h"
#include "harness/watchdog.h"

enum { STATUS_WELL = 0, STATUS_BAD = 1, STATUS_USAGE = 2 };

static atomic_bool printed; /* all runtimes have ended and their lines have been printed */

static void report_timeout(void *arg)
{
    static const char at_exit[] =
        "runsxs: all runtimes have ended, but the process does not: its exit handlers hang\n";

    if (!atomic_load(&printed))
        sxs_runs_print(arg);
    else if (write(STDERR_FILENO, at_exit, sizeof(at_exit) - 1) < 0)
        return;
    sxs_private_copy_remove();
}

/* Makes copies, opens the bridge, starts the stress and the watchdog. A failure here is not an
 * error in the command line. */
static int get_ready(struct app_runs *runs, const struct sxs_options *options, char *why,
                     size_t why_size)
{
    if (sxs_runs_separate(runs, why, why_size))
        return -1;
    if (options->bridge &&
        sxs_bridge_host_open(&runs->bridge, (int)runs->len, why, why_size))
        return -1;
    if (options->churn && sxs_churn_host_start(options->churn, why, why_size))
        return -1;
    if (options->timeout && sxs_watchdog_start(options->timeout, report_timeout, runs)) {
        snprintf(why, why_size, "cannot start the watchdog's thread");
        return -1;
    }
    return 0;
}

int main(int argc, char **argv)
{
    static struct app_runs runs; /* static: the watchdog reads it while exit handlers run */
    struct sxs_options     options;
    char                   why[1024];

    switch (sxs_options_parse(argc, argv, &options)) {
    case SXS_OPTIONS_RUN:
        break;
    case SXS_OPTIONS_DONE:
        return STATUS_WELL;
    case SXS_OPTIONS_WRONG:
        sxs_options_free(&options);
        return STATUS_USAGE;
    }
    int status = STATUS_USAGE;
    if (sxs_runs_prepare(&runs, &options, why, sizeof(why))) {
        fprintf(stderr, "runsxs: %s\n", why);
        goto done;
    }
    status = STATUS_BAD;
    if (get_ready(&runs, &options, why, sizeof(why))) {
        fprintf(stderr, "runsxs: %s\n", why);
        goto done;
    }
    sxs_runs_execute(&runs, &options);
    size_t stress = sxs_churn_host_end();
    status = sxs_runs_print(&runs) + stress ? STATUS_BAD : STATUS_WELL;
    atomic_store(&printed, true);
done:
    sxs_private_copy_remove();
    if (!options.timeout) /* otherwise the watchdog may still print the runs */
        sxs_runs_free(&runs);
    sxs_options_free(&options);
    return status;
}
