/* SPDX-License-Identifier: MIT */
#include "base/env.h"

#include <stdlib.h>

#define ROW(id, name, otherwise, meaning) {name, otherwise, meaning},
const struct sxs_env_row sxs_env_table[SXS_N_ENV] = {SXS_ENV_VARIABLES(ROW)};
const struct sxs_env_row sxs_env_knobs[SXS_N_KNOBS] = {SXS_ENV_KNOBS(ROW)};
#undef ROW

const char *sxs_env_get(enum sxs_env variable)
{
    const char *value = sxs_env_named(sxs_env_table[variable].name);
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
