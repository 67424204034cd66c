/* SPDX-License-Identifier: MIT */
/** run.h - the runtimes of one runsxs command: prepare, execute, print the results. */
#ifndef SXS_HARNESS_RUN_H
#define SXS_HARNESS_RUN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "harness/bridge_host.h"
#include "harness/find.h"
#include "harness/options.h"

/* One runtime with its app. Filled by sxs_runs_prepare(), then owned by the thread that runs it.
 * Other threads may read the fields after `ended` once `ended` is true. */
struct app_run {
    size_t           index;
    struct found_runtime place;
    const char      *name;    /* the app as the user wrote it; borrowed */
    char            *app;     /* the path for coreclr_execute_assembly; owned */
    char            *app_dir; /* owned; NULL for a simulated runtime */
    const char     **args;    /* owned, see harness/argument_list.h */
    size_t           n_args;
    _Atomic double   since; /* CLOCK_MONOTONIC, seconds, when it was started; 0: not yet */
    atomic_bool      ended;
    bool             failed;    /* true: `error` has the reason; false: `exit_code` is valid */
    int              exit_code;
    char             error[512];
    double           seconds; /* from before coreclr_initialize until after coreclr_shutdown_2 */
};

struct app_runs {
    struct app_run        *all; /* owned */
    size_t                 len;
    struct sxs_bridge_host bridge;
};

/* Finds the runtimes and apps and splits the arguments; starts nothing. Returns 0, or -1 with one
 * line in @why. Call sxs_runs_free() in both cases. Main thread. */
int sxs_runs_prepare(struct app_runs *out, const struct sxs_options *options, char *why,
                     size_t why_size);

/* Copies the directory of every runtime that is used more than once, because a library that is
 * loaded twice from one file is one runtime. Returns 0, or -1 with one line in @why. Main thread,
 * before other threads start. */
int sxs_runs_separate(struct app_runs *runs, char *why, size_t why_size);

/* Runs all runtimes as the options say, and returns when all have ended. Main thread. */
void sxs_runs_execute(struct app_runs *runs, const struct sxs_options *options);

/* Prints a line for each run to stdout, one write each, without allocating. A run that has not
 * ended has result=timeout. Returns the number of runs that failed, did not end, or had an exit
 * code other than 0. Any thread. */
size_t sxs_runs_print(const struct app_runs *runs);

/* Frees everything; a zeroed object is allowed. */
void sxs_runs_free(struct app_runs *runs);

#endif
