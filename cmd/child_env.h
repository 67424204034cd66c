/* SPDX-License-Identifier: MIT */
/**
 * child_env.h - the environment that makes a command's runtimes load the profiler library.
 */
#ifndef SXS_REPORT_CHILD_ENV_H
#define SXS_REPORT_CHILD_ENV_H

#include "cmd/library.h"

/** What to put into it. NULL leaves the inherited value of that variable as it is. */
struct sxs_child_settings {
    const struct sxs_library *library;
    bool        preload;  /* prepend the signal library to LD_PRELOAD */
    const char *pick;     /* SXSPROF_PICK */
    const char *unpicked; /* SXSPROF_UNPICKED */
    const char *tools;    /* SXSPROF_TOOLS */
    const char *calls, *calls_not; /* SXSPROF_CALLS, SXSPROF_CALLS_NOT */
    const char *values;            /* SXSPROF_VALUES */
    const char *instrument;        /* SXSPROF_INSTRUMENT */
    const char *signals;  /* SXSPROF_SIGNALS */
    const char *out;      /* SXSPROF_OUT, absolute */
};

/**
 * sxs_child_env - this process's environment with the settings put in.
 * Takes out CORECLR_PROFILER_PATH_32, _64, _ARM32 and _ARM64, which would win over
 * CORECLR_PROFILER_PATH. Returns a NULL-terminated array for execve(), freed with
 * sxs_child_env_free(), or NULL without memory. Not while other threads change the environment.
 */
char **sxs_child_env(const struct sxs_child_settings *s);

/** sxs_child_env_free - NULL is fine. */
void sxs_child_env_free(char **env);

#endif
