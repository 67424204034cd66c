/* SPDX-License-Identifier: MIT */
/**
 * precompiled.h - the modules whose precompiled (ReadyToRun) code is refused.
 *
 * Precompiled code may have inlined copies of a method that gets new IL, and has no record of these
 * copies. So the methods of such a module are compiled by the JIT instead.
 *
 * Any thread. Takes a lock of its own, under which no runtime is called.
 */
#ifndef SXS_REJIT_METHODS_PRECOMPILED_H
#define SXS_REJIT_METHODS_PRECOMPILED_H

#include "manager/runtime.h"

/**
 * sxs_precompiled_leave - stop using the precompiled code of @module, because a method of it gets
 * new IL. Methods that are called for the first time from now on are compiled. Modules of the
 * framework are left out, because too many methods would have to be compiled. Asks the runtime for
 * the module's path when it is called for the first time for a module.
 */
void sxs_precompiled_leave(sxs_module module);

/** sxs_precompiled_is_left - return nonzero when the precompiled code of @fn must not be used. */
int sxs_precompiled_is_left(sxs_function fn);

/** sxs_precompiled_forget - forget @module, which is unloaded. Its id 0: all modules of the
 *  runtime. */
void sxs_precompiled_forget(sxs_module module);

#endif
