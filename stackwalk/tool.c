/* SPDX-License-Identifier: MIT */
#include "stackwalk/walk.h"

/* The flag is immutable, so it must be requested in Initialize to allow stack snapshots later. */
static HRESULT start_tool(struct sxs_sub *sub, const char *options)
{
    (void)options;
    sub->low = (uint32_t)COR_PRF_ENABLE_STACK_SNAPSHOT;
    return S_OK;
}

static const struct sxs_events no_events;

const struct sxs_tool sxs_stackwalk_tool = {
    .name = "stack",
    .always = 1,
    .on = &no_events,
    .start = start_tool,
};
