/* SPDX-License-Identifier: MIT */
/**
 * precompiled.h - which modules' precompiled code is not used: it has inlined copies of methods that got new IL, and
 * keeps no record of them.
 *
 * Any thread; a lock inside, under which no runtime is called.
 */
#ifndef SXS_REWRITE_PRECOMPILED_H
#define SXS_REWRITE_PRECOMPILED_H

#include "manager/runtime.h"

/** sxs_precompiled_leave - a method of @module gets new IL: what is called from now on is compiled. Not for the
 *  framework's own, of which too much would be. Asks the runtime, the first time. */
void sxs_precompiled_leave(sxs_module module);

/** sxs_precompiled_is_left - nonzero: @fn is to be compiled. */
int sxs_precompiled_is_left(sxs_function fn);

/** sxs_precompiled_forget - the module is unloaded (id 0: all of the runtime's). */
void sxs_precompiled_forget(sxs_module module);

#endif
