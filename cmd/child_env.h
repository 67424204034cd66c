/* SPDX-License-Identifier: MIT */
/**
 * child_env.h - build the environment that makes a command's runtimes load the profiler library.
 */
#ifndef SXS_CMD_CHILD_ENV_H
#define SXS_CMD_CHILD_ENV_H

#include "cmd/library.h"

#include <stddef.h>

/**
 * Values for the environment. NULL leaves the inherited value of that variable unchanged. Borrowed.
 */
struct sxs_child_settings {
    const struct sxs_library *library;
    bool        preload;  /* prepend the signal library to LD_PRELOAD */
    bool        allocator; /* prepend the allocator, behind the signal library */
    const char *pick;     /* SXSPROF_PICK */
    const char *unpicked; /* SXSPROF_UNPICKED */
    const char *tools;    /* SXSPROF_TOOLS */
    const char *calls, *calls_not; /* SXSPROF_CALLS, SXSPROF_CALLS_NOT */
    const char *values;            /* SXSPROF_VALUES */
    const char               *mask;              /* SXSPROF_MASK */
    const char *instrument;        /* SXSPROF_INSTRUMENT */
    const char *guests;            /* SXSPROF_GUESTS */
    const char *methods;           /* SXSPROF_METHODS */
    bool        adopt; /* remove the variables that name notification profilers: these are guests */
    const char *keep, *every, *on, *budget; /* SXSPROF_KEEP, SXSPROF_EVERY, SXSPROF_ON, SXSPROF_BUDGET */
    const char *signals;  /* SXSPROF_SIGNALS */
    const char *out;      /* SXSPROF_OUT, absolute */
    const char *fast_tail_calls; /* DOTNET_FastTailCalls */
};

/** A variable and its value; NULL: the variable is left as it is. Borrowed. */
struct sxs_child_variable {
    const char *name, *value;
};

#define SXS_CHILD_VARIABLES 20

/** sxs_child_variables - list the variables that @s sets, besides LD_PRELOAD. */
void sxs_child_variables(const struct sxs_child_settings *s,
                         struct sxs_child_variable        out[SXS_CHILD_VARIABLES]);

/** sxs_child_removed - return the names of variables that must not be set; ends with NULL. Static.
 *  @adopt: as in struct sxs_child_settings. */
const char *const *sxs_child_removed(bool adopt);

/**
 * sxs_child_preload - write what the settings prepend to LD_PRELOAD, separated by ':'; "" if nothing.
 * @size: 2 * PATH_MAX is enough. */
void sxs_child_preload(const struct sxs_child_settings *s, char *out, size_t size);

/**
 * sxs_child_env - copy the environment of this process and apply the settings.
 * Removes the variables of sxs_child_removed().
 * Returns a NULL-terminated array for execve(), to be released with sxs_child_env_free(), or NULL
 * when out of memory. No other thread may change the environment meanwhile.
 */
char **sxs_child_env(const struct sxs_child_settings *s);

/** sxs_child_env_free - release an environment; NULL is allowed. */
void sxs_child_env_free(char **env);

#endif
