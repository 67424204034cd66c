/* SPDX-License-Identifier: MIT */
#ifndef SXS_HARNESS_RUN_H
#define SXS_HARNESS_RUN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "harness/bridge_host.h"
#include "harness/find.h"
#include "harness/options.h"

/* One runtime with its app. Filled by sxs_run_prepare(), then owned by the thread that runs it; the
 * fields after `ended` are for others to read once that is true. */
struct sxs_run {
    size_t           index;
    struct sxs_place place;
    const char      *name;    /* the app as the user wrote it; borrowed */
    char            *app;     /* what coreclr_execute_assembly is given; owned */
    char            *app_dir; /* owned; NULL for a simulated runtime */
    const char     **args;    /* owned, see harness/words.h */
    size_t           n_args;
    _Atomic double   since; /* CLOCK_MONOTONIC, seconds, when it was started; 0 before */
    atomic_bool      ended;
    bool             failed;    /* `error` says how; else the app's exit code counts */
    int              exit_code;
    char             error[512];
    double           seconds; /* from before coreclr_initialize until after coreclr_shutdown_2 */
};

struct sxs_runs {
    struct sxs_run        *all; /* owned */
    size_t                 len;
    struct sxs_bridge_host bridge;
};

/* Finds runtimes and apps and splits the arguments; nothing is started. Returns 0, or -1 with one
 * line in @why. Free @out with sxs_runs_free() either way. Main thread. */
int sxs_runs_prepare(struct sxs_runs *out, const struct sxs_options *options, char *why,
                     size_t why_size);

/* Copies the directory of every runtime that is there more than once. Returns 0, or -1 with one
 * line in @why. Main thread, before other threads. */
int sxs_runs_separate(struct sxs_runs *runs, char *why, size_t why_size);

/* Runs all, as the options say, and returns when all have ended. Main thread. */
void sxs_runs_execute(struct sxs_runs *runs, const struct sxs_options *options);

/* Prints a line for each run to stdout with one write each, without allocating: those that have not
 * ended have result=timeout. Any thread. Returns how many did not end well. */
size_t sxs_runs_print(const struct sxs_runs *runs);

/* Frees all; a zeroed object is fine. */
void sxs_runs_free(struct sxs_runs *runs);

#endif
