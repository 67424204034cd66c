/* SPDX-License-Identifier: MIT */
/**
 * child_env.h - build the environment that makes a command's runtimes load the profiler library.
 */
#ifndef SXS_CMD_CHILD_ENV_H
#define SXS_CMD_CHILD_ENV_H

#include "cmd/library.h"
#include "cmd/settings.h"

#include <stddef.h>

/**
 * Values for the environment. NULL leaves the inherited value of that variable unchanged. Borrowed.
 */
struct sxs_child_settings {
    const struct sxs_library *library;
    const char
        *values[SXS_N_SETTINGS]; /* of the settings that have variables; NULL: left as it is */
    const char *fast_tail_calls; /* DOTNET_FastTailCalls; NULL: left as it is */
    bool        preload;         /* prepend the signal library to LD_PRELOAD */
    bool        allocator;       /* prepend the allocator, after the signal library */
    bool        adopt; /* remove the variables that name notification profilers: these are guests */
};

/** A variable and its value; NULL: the variable is left as it is. Borrowed. */
struct sxs_child_variable {
    const char *name, *value;
};

#define SXS_CHILD_VARIABLES (SXS_N_SETTINGS + 4)

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
