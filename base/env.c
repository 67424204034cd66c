/* SPDX-License-Identifier: MIT */
#include "base/env.h"

#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#define ROW(id, name, otherwise, meaning) {name, otherwise, meaning},
const struct sxs_env_row sxs_env_table[SXS_N_ENV] = {SXS_ENV_VARIABLES(ROW)};
const struct sxs_env_row sxs_env_command[SXS_N_COMMAND] = {SXS_ENV_COMMAND(ROW)};
const struct sxs_env_row sxs_env_knobs[SXS_N_KNOBS] = {SXS_ENV_KNOBS(ROW)};
const struct sxs_env_row sxs_env_clrie[SXS_N_CLRIE] = {SXS_ENV_CLRIE(ROW)};
#undef ROW
#define ROW(id, prefix, meaning) {prefix, "", meaning},
const struct sxs_env_row sxs_env_clrie_prefixes[SXS_N_CLRIE_PREFIXES] = {
    SXS_ENV_CLRIE_PREFIXES(ROW)};
#undef ROW

int sxs_env_is_secure(void)
{
    return getauxval(AT_SECURE) != 0;
}

static int counts(enum sxs_env variable)
{
#define HONOURED(id, reason) variable == SXS_ENV_##id ||
    return SXS_ENV_SECURE(HONOURED) !sxs_env_is_secure();
#undef HONOURED
}

static bool has_row(const struct sxs_env_row *rows, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(rows[i].name, name) == 0)
            return true;
    return false;
}

bool sxs_env_is_known(const char *name)
{
    return has_row(sxs_env_table, SXS_N_ENV, name) || has_row(sxs_env_command, SXS_N_COMMAND, name);
}

const char *sxs_env_get(enum sxs_env variable)
{
    const char *value = counts(variable) ? sxs_env_named(sxs_env_table[variable].name) : NULL;
    return value && *value ? value : NULL;
}

const char *sxs_env_named(const char *name)
{
    return getenv(name);
}

const char *sxs_env_named_securely(const char *name)
{
    return secure_getenv(name);
}

const char *sxs_env_clrie_get(enum sxs_clrie_env variable)
{
    const char *value = sxs_env_is_secure() ? NULL : sxs_env_named(sxs_env_clrie[variable].name);
    return value && *value ? value : NULL;
}

const char *sxs_env_clrie_name(enum sxs_clrie_env variable)
{
    return sxs_env_clrie[variable].name;
}

const char *sxs_env_clrie_prefix(enum sxs_clrie_prefix prefix)
{
    return sxs_env_clrie_prefixes[prefix].name;
}

/* Walks from the first entry each time, because a host may have replaced the array. */
const char *sxs_env_entry(size_t n)
{
    char **entries = environ;
    for (size_t i = 0; entries && entries[i] && !sxs_env_is_secure(); i++)
        if (i == n)
            return entries[i];
    return NULL;
}
