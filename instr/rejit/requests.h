/* SPDX-License-Identifier: MIT */
/**
 * requests.h - what is asked of runtimes: new IL for methods, and the original back.
 *
 * One batch of each for a runtime and a change. No lock of ours is held while a runtime is asked.
 */
#ifndef SXS_REWRITE_REQUESTS_H
#define SXS_REWRITE_REQUESTS_H

#include "instr/rejit/compiles.h"
#include "instr/rejit/sites.h"

/** Keeps a module from being unloaded while it is read. */
struct sxs_reading {
    int (*start)(void *context, ModuleID module); /* false: it is gone. NULL: that cannot happen */
    void (*stop)(void *context);
    void *context;
};

/** Modules of one runtime, and what they are to be brought to. */
struct sxs_requests {
    struct sxs_runtime *rt;
    ModuleID           *modules;
    size_t              n;
    struct sxs_plan    *plan;
    struct sxs_reading  reading;
    /* On a thread the runtime does not know: to be waited for. NULL within ModuleLoadFinished, for
     * nobody can be inlining what has not been there. */
    struct sxs_compiles *compiles;
};

/**
 * sxs_requests_apply - bring the modules of @all to what its plan says: those methods it wants, and no others. On a
 * thread the runtime does not know, or within ModuleLoadFinished.
 */
void sxs_requests_apply(const struct sxs_requests *all);

/** sxs_requests_apply_all - the same for @n runtimes, each on a thread of its own, which stays: a runtime may have to
 *  wait for the program's threads, and none is to wait for another. Returns when all are done. One caller at a time. */
void sxs_requests_apply_all(struct sxs_requests *all, size_t n);

#endif
