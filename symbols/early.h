/* SPDX-License-Identifier: MIT */
/**
 * symbols/early.h - finds the tier of code that a runtime compiled before its EventPipe session
 * (symbols/compiled.h) was started.
 *
 * The session is started late, because starting it costs the program tens of milliseconds. Until
 * then JITCompilationFinished reports each method, but not its tier. The tier is inferred from
 * the thread that compiled the method and from earlier compilations of that method:
 *
 *   on another thread than the runtime's tiering worker, first time: the method's initial tier
 *   on such a thread, again:                                         OSR, for a patchpoint
 *   on the worker, after one compilation at the initial tier:        tier 0 with counters if the
 *                                                                    runtime profiles (TieredPGO),
 *                                                                    else tier 1
 *   on the worker, otherwise:                                        tier 1 */
#ifndef SXS_SYMBOLS_EARLY_H
#define SXS_SYMBOLS_EARLY_H

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

/**
 * sxs_early_compiled - note that @fn was compiled at ReJIT version @rejit, and pass its new code
 * to sxs_compiled_add(). Called in the runtime's callback that reports the compilation.
 * ICorProfilerInfo9 and later. Not called for dynamic methods. */
void sxs_early_compiled(sxs_function fn, uint64_t rejit);

/** sxs_early_end - forget the code of @rt: no more early code will be reported. Any thread. */
void sxs_early_end(const struct sxs_runtime *rt);

/**
 * sxs_early_tier - the tier of a piece of code that was compiled as @how.
 * @module, @token: of its method; token 0: not known.
 * Returns SXS_TIER_UNKNOWN when the program's settings of tiered compilation do not tell. Calls
 * the runtime for metadata. Threads: as sxs_namer_function(). */
enum sxs_code_tier sxs_early_tier(enum sxs_early how, sxs_module module, mdToken token);

#endif
