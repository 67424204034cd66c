/* SPDX-License-Identifier: MIT */
/** subscriptions.h - event masks of one runtime's tools, for tool.c and subscriptions.c. All functions
 *  named _locked are called under mask_lock. */
#ifndef SXS_MANAGER_SUBSCRIPTIONS_H
#define SXS_MANAGER_SUBSCRIPTIONS_H

#include "manager/runtime_internal.h"

/** sxs_sub_bit - return the bit of @sub in `taken`, `published`... */
static inline uint64_t sxs_sub_bit(const struct sxs_sub *sub)
{
    return UINT64_C(1) << (sub - sub->rt->subs);
}

/** sxs_masks_route_locked - compute rt->wants again. Call it after every change of a mask. */
void sxs_masks_route_locked(struct sxs_runtime *rt);

/** sxs_masks_ask - ask the runtime for these events. Returns the result of SetEventMask. */
HRESULT sxs_masks_ask(struct sxs_runtime *rt, uint32_t low, uint32_t high);

/** sxs_masks_union_locked - the union of the masks of the subscriptions @bits, and what the runtime
 *  does not let go after Initialize. */
void sxs_masks_union_locked(const struct sxs_runtime *rt, uint64_t bits, uint32_t *low,
                            uint32_t *high);

/** sxs_masks_are_late - return 1 when a mask has bits that the runtime accepts in Initialize only,
 *  and was not asked for then. */
int sxs_masks_are_late(const struct sxs_runtime *rt, uint32_t low, uint32_t high);

#endif
