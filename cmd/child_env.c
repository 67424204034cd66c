/* SPDX-License-Identifier: MIT */
#include "cmd/child_env.h"
#include "base/env.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Room for new entries in the array: all variables, and LD_PRELOAD. */
#define MAX_NEW (SXS_CHILD_VARIABLES + 1)

/* Returns true when @entry ("NAME=value") sets @name. */
static bool entry_sets(const char *entry, const char *name)
{
    size_t len = strlen(name);
    return strncmp(entry, name, len) == 0 && entry[len] == '=';
}

static void unset_variable(char **env, const char *name)
{
    size_t kept = 0;
    for (size_t i = 0; env[i]; i++)
        if (entry_sets(env[i], name))
            free(env[i]);
        else
            env[kept++] = env[i];
    env[kept] = NULL;
}

/* Sets a variable; a NULL @value changes nothing. MAX_NEW ensures that the array has room. Returns
 * 0, or -1 when out of memory. */
static int set_variable(char **env, const char *name, const char *value)
{
    size_t n = 0;
    char  *entry = NULL;
    if (!value)
        return 0;
    if (asprintf(&entry, "%s=%s", name, value) < 0)
        return -1;
    unset_variable(env, name);
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
static int set_preload(char **env, const char *paths)
{
    const char *before = sxs_env_named("LD_PRELOAD");
    char       *value = NULL;
    if (asprintf(&value, "%s%s%s", paths, before && *before ? ":" : "", before ? before : "") < 0)
        return -1;
    int err = set_variable(env, "LD_PRELOAD", value);
    free(value);
    return err;
}

void sxs_child_preload(const struct sxs_child_settings *s, char *out, size_t size)
{
    snprintf(out, size, "%s%s%s", s->preload ? s->library->preload : "",
             s->preload && s->allocator ? ":" : "", s->allocator ? s->library->allocator : "");
}

#define N_NOTIFICATION 3

const char *const *sxs_child_removed(bool adopt)
{
    static const char *const names[] = {
        "CORECLR_NOTIFICATION_PROFILERS", "CORECLR_NOTIFICATION_PROFILERS_64",
        "CORECLR_NOTIFICATION_PROFILERS_ARM64",
        /* These take precedence over CORECLR_PROFILER_PATH. */
        "CORECLR_PROFILER_PATH_32", "CORECLR_PROFILER_PATH_64", "CORECLR_PROFILER_PATH_ARM32",
        "CORECLR_PROFILER_PATH_ARM64", NULL};
    return adopt ? names : names + N_NOTIFICATION;
}

void sxs_child_variables(const struct sxs_child_settings *s,
                         struct sxs_child_variable        out[SXS_CHILD_VARIABLES])
{
    const struct sxs_child_variable own[] = {
        {"CORECLR_ENABLE_PROFILING", "1"},
        {"CORECLR_PROFILER", SXSPROF_CLSID},
        {"CORECLR_PROFILER_PATH", s->library->profiler},
        {"DOTNET_FastTailCalls", s->fast_tail_calls},
    };
    size_t n = sizeof(own) / sizeof(own[0]);
    memcpy(out, own, sizeof(own));
    for (size_t i = 0; i < SXS_N_SETTINGS; i++)
        out[n++] = (struct sxs_child_variable){sxs_settings[i].variable, s->values[i]};
}

char **sxs_child_env(const struct sxs_child_settings *s)
{
    struct sxs_child_variable variables[SXS_CHILD_VARIABLES];
    char                      preload[2 * PATH_MAX];
    int                       err = 0;
    char                    **env = copy_environment();
    if (!env)
        return NULL;
    for (const char *const *name = sxs_child_removed(s->adopt); *name; name++)
        unset_variable(env, *name);
    sxs_child_variables(s, variables);
    for (size_t i = 0; i < SXS_CHILD_VARIABLES; i++)
        if (variables[i].name)
            err |= set_variable(env, variables[i].name, variables[i].value);
    sxs_child_preload(s, preload, sizeof(preload));
    if (*preload)
        err |= set_preload(env, preload);
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
