/* SPDX-License-Identifier: MIT */
/**
 * dispatch.h - which managed functions are a runtime's own exception handling.
 *
 * From 9.0 on, exceptions are dispatched by managed code of System.Private.CoreLib. It is on the stack
 * like any other, but no runtime reports it.
 */
#ifndef SXS_SAMPLER_DISPATCH_H
#define SXS_SAMPLER_DISPATCH_H

#include "manager/runtime.h"

/** A module was loaded; the first of each runtime is System.Private.CoreLib. Any thread. */
void sxs_dispatch_module(sxs_module module);

/** Looks up the classes in question, once. On a thread that @rt does not know, @rt not suspended. */
void sxs_dispatch_learn(struct sxs_runtime *rt);

/** Is @fn such a function? Any thread, its runtime suspended or not; no lock. 0 before learn(). */
int sxs_dispatch_is(sxs_function fn);

#endif
