/* SPDX-License-Identifier: MIT */
#include "base/mask.h"

#include <stdatomic.h>

#include "base/env.h"
#include "base/log.h"
#include "base/session_state.h"

static enum sxs_mask by_environment;
static _Atomic int   now;
SXS_SESSION_KEEPS(by_environment);
SXS_SESSION_KEEPS(now);

void sxs_mask_init(void)
{
    const char *text = sxs_env_get(SXS_ENV_MASK);
    int         mask = text ? sxs_mask_parse(text) : SXS_MASK_OFF;
    if (mask < 0) {
        sxs_error("SXSPROF_MASK=%.100s: expected " SXS_MASK_EXPECTED "; going on with all", text);
        mask = SXS_MASK_ALL;
    }
    by_environment = (enum sxs_mask)mask;
    atomic_store(&now, mask);
}

int sxs_mask_begin(const char *wish)
{
    int mask = wish ? sxs_mask_parse(wish) : SXS_MASK_OFF;
    if (mask < 0)
        return -1;
    atomic_store(&now, mask > (int)by_environment ? mask : (int)by_environment);
    return 0;
}

SXS_SIGSAFE enum sxs_mask sxs_mask(void)
{
    return (enum sxs_mask)atomic_load(&now);
}
