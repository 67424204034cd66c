/* SPDX-License-Identifier: MIT */
#include "stackwalk/fast/walkers.h"

#include "stackwalk/fast/walk_unwind.h"

int sxs_walkers_prepare(enum sxs_sample_walker walker)
{
    return walker == SXS_WALKER_UNWIND ? sxs_walk_unwind_prepare() : 0;
}

SXS_SIGSAFE size_t sxs_walkers_walk(enum sxs_sample_walker walker, const ucontext_t *uc,
                                    const struct sxs_walk_limits *limits, uintptr_t *ips,
                                    enum sxs_sample_end *end)
{
    return walker == SXS_WALKER_UNWIND ? sxs_walk_unwind(uc, limits, ips, end)
                                       : sxs_walk_fast(uc, limits, ips, end);
}
