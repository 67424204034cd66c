/* SPDX-License-Identifier: MIT */
/**
 * requests.h - what is asked of runtimes: new IL for methods, and the original back.
 *
 * One batch of each for a runtime and a change. No lock of ours is held while a runtime is asked.
 */
#ifndef SXS_REWRITE_REQUESTS_H
#define SXS_REWRITE_REQUESTS_H

#include "rewrite/sites.h"

/**
 * sxs_requests_apply - bring @modules (@n of one runtime) to what @plan says: those methods it wants, and no
 * others. On a thread the runtime does not know, or within ModuleLoadFinished.
 */
void sxs_requests_apply(struct sxs_runtime *rt, const ModuleID *modules, size_t n,
                        struct sxs_plan *plan);

/** Modules of one runtime. */
struct sxs_requests {
    struct sxs_runtime *rt;
    ModuleID           *modules;
    size_t              n;
    struct sxs_plan    *plan;
};

/** sxs_requests_apply_all - the same for @n runtimes, each on a thread of its own, which stays: a runtime may have to
 *  wait for the program's threads, and none is to wait for another. Returns when all are done. One caller at a time. */
void sxs_requests_apply_all(struct sxs_requests *all, size_t n);

#endif
