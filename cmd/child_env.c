/* SPDX-License-Identifier: MIT */
#include "cmd/child_env.h"
#include "base/env.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* More than the number of variables that sxs_child_env() sets: room for new entries in the
 * array. */
#define MAX_NEW 20

/* Returns true when @entry ("NAME=value") sets @name. */
static bool sets(const char *entry, const char *name)
{
    size_t len = strlen(name);
    return strncmp(entry, name, len) == 0 && entry[len] == '=';
}

static void unset(char **env, const char *name)
{
    size_t kept = 0;
    for (size_t i = 0; env[i]; i++)
        if (sets(env[i], name))
            free(env[i]);
        else
            env[kept++] = env[i];
    env[kept] = NULL;
}

/* Sets a variable; a NULL @value changes nothing. MAX_NEW ensures that the array has room. Returns
 * 0, or -1 when out of memory. */
static int set(char **env, const char *name, const char *value)
{
    size_t n = 0;
    char  *entry = NULL;
    if (!value)
        return 0;
    if (asprintf(&entry, "%s=%s", name, value) < 0)
        return -1;
    unset(env, name);
    while (env[n])
        n++;
    env[n] = entry;
    env[n + 1] = NULL;
    return 0;
}

static char **copy_environment(void)
{
    size_t n = 0;
    while (environ[n])
        n++;
    char **env = calloc(n + MAX_NEW + 1, sizeof(*env));
    for (size_t i = 0; env && i < n; i++) {
        env[i] = strdup(environ[i]);
        if (!env[i]) {
            sxs_child_env_free(env);
            return NULL;
        }
    }
    return env;
}

/* Puts the signal library first: when two preloaded libraries interpose the same function, the
 * first one is called. */
static int set_preload(char **env, const char *path)
{
    const char *before = sxs_env_named("LD_PRELOAD");
    char       *value = NULL;
    if (asprintf(&value, "%s%s%s", path, before && *before ? ":" : "", before ? before : "") < 0)
        return -1;
    int err = set(env, "LD_PRELOAD", value);
    free(value);
    return err;
}

char **sxs_child_env(const struct sxs_child_settings *s)
{
    static const char *const stronger[] = {"CORECLR_PROFILER_PATH_32", "CORECLR_PROFILER_PATH_64",
                                           "CORECLR_PROFILER_PATH_ARM32",
                                           "CORECLR_PROFILER_PATH_ARM64"};
    int    err = 0;
    char **env = copy_environment();
    if (!env)
        return NULL;
    for (size_t i = 0; i < sizeof(stronger) / sizeof(stronger[0]); i++)
        unset(env, stronger[i]);
    err |= set(env, "CORECLR_ENABLE_PROFILING", "1");
    err |= set(env, "CORECLR_PROFILER", SXSPROF_CLSID);
    err |= set(env, "CORECLR_PROFILER_PATH", s->library->profiler);
    err |= set(env, "SXSPROF_PICK", s->pick);
    err |= set(env, "SXSPROF_UNPICKED", s->unpicked);
    err |= set(env, "SXSPROF_TOOLS", s->tools);
    err |= set(env, "SXSPROF_CALLS", s->calls);
    err |= set(env, "SXSPROF_CALLS_NOT", s->calls_not);
    err |= set(env, "SXSPROF_VALUES", s->values);
    err |= set(env, "SXSPROF_INSTRUMENT", s->instrument);
    err |= set(env, "SXSPROF_SIGNALS", s->signals);
    err |= set(env, "SXSPROF_OUT", s->out);
    if (s->preload)
        err |= set_preload(env, s->library->preload);
    if (err) {
        sxs_child_env_free(env);
        return NULL;
    }
    return env;
}

void sxs_child_env_free(char **env)
{
    for (size_t i = 0; env && env[i]; i++)
        free(env[i]);
    free(env);
}
