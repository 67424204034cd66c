/* SPDX-License-Identifier: MIT */
/**
 * early.h - code that a runtime compiled before its EventPipe session (compiled.h) was started.
 *
 * The session is started late, because starting it costs the program tens of milliseconds. Until then
 * JITCompilationFinished reports each method, but not its tier. That is inferred from the thread that compiled it and
 * from what was compiled of the function before:
 *
 *   on another thread than the runtime's tiering worker, first time:   the method's initial tier
 *   on such a thread, again:                                           OSR, as a patchpoint asked for it
 *   on the worker, after one compilation at the initial tier:          tier 0 with counters if the runtime profiles
 *                                                                      (TieredPGO), else tier 1
 *   on the worker, otherwise:                                          tier 1
 */
#ifndef SXS_SAMPLER_EARLY_H
#define SXS_SAMPLER_EARLY_H

#include "session/format/samples.h"
#include "symbols/compiled.h"

/** How a piece of code was compiled. */
enum sxs_early {
    SXS_EARLY_NOT, /* the session reported it */
    SXS_EARLY_INITIAL,
    SXS_EARLY_OSR,
    SXS_EARLY_PROMOTED_ONCE,
    SXS_EARLY_PROMOTED,
};

/** sxs_early_compiled - @fn was compiled, at ReJIT version @rejit: hand its new code to sxs_compiled_add(). In the
 *  runtime's callback that says so. ICorProfilerInfo9 and later; not for dynamic methods. */
void sxs_early_compiled(sxs_function fn, uint64_t rejit);

/** sxs_early_end - nothing more is reported of @rt: forget what was kept of it. Any thread. */
void sxs_early_end(const struct sxs_runtime *rt);

/**
 * sxs_early_tier - the tier of a piece of code compiled as @how.
 * @module, @token: its method's; token 0: not known. Asks the runtime for metadata: threads as sxs_namer_function().
 * Returns SXS_TIER_UNKNOWN when the program's settings of tiered compilation leave it open.
 */
enum sxs_code_tier sxs_early_tier(enum sxs_early how, sxs_module module, mdToken token);

#endif
