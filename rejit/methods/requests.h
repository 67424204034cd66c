/* SPDX-License-Identifier: MIT */
/**
 * requests.h - asks runtimes to compile methods with new IL (ReJIT), and to restore the original
 * (revert).
 *
 * A change of the configuration results in one batch of reverts and one of ReJIT requests for each
 * runtime. No lock of the library is held while a runtime is asked.
 */
#ifndef SXS_REJIT_METHODS_REQUESTS_H
#define SXS_REJIT_METHODS_REQUESTS_H

#include "rejit/methods/compiles.h"
#include "rejit/methods/instrumented.h"

/** Functions that keep a module from being unloaded while its metadata is read. */
struct sxs_reading {
    /** Returns nonzero when @module may be read until stop(), 0 when it is unloaded. NULL: the
     *  module cannot be unloaded meanwhile, and stop() is not called either. */
    int (*start)(void *context, ModuleID module);
    void (*stop)(void *context);
    void *context; /* passed to both */
};

/** Modules of one runtime, and the configuration that is to be applied to them. */
struct sxs_requests {
    struct sxs_runtime *rt;      /* borrowed */
    struct sxs_sub     *sub;     /* of the tool that requests; borrowed */
    ModuleID           *modules; /* borrowed */
    size_t              n;       /* length of modules */
    struct sxs_plan    *plan;    /* borrowed */
    struct sxs_reading  reading;
    /* The compilations that a request must wait for, on a thread that the runtime does not know.
     * NULL within ModuleLoadFinished: no compilation can be inlining methods of a module that is
     * just being loaded. */
    struct sxs_compiles *compiles;
};

/**
 * sxs_requests_apply - instrument the methods of @all's modules that its plan wants, and revert all
 * others. Called on a thread that the runtime does not know, or within ModuleLoadFinished.
 */
void sxs_requests_apply(const struct sxs_requests *all);

/**
 * sxs_requests_apply_all - do the same for @n runtimes, each on a thread of its own.
 * A request may have to wait for the program's threads in one runtime; this must not delay the
 * other runtimes. The threads stay for later calls. Returns when all requests are done. Called by
 * one thread at a time.
 */
void sxs_requests_apply_all(struct sxs_requests *all, size_t n);

/** sxs_requests_revert - give the methods of the @n @modules of @rt their original IL again, as far as
 *  the runtime can. Calls that are in progress end with the new IL. @sub: the tool's subscription.
 *  Threads: as sxs_requests_apply(). */
void sxs_requests_revert(struct sxs_runtime *rt, struct sxs_sub *sub, const ModuleID *modules,
                         size_t n);

/** sxs_requests_end - wait until the threads that sxs_requests_apply_all() has started have ended. */
void sxs_requests_end(void);

#endif
