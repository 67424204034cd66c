/* SPDX-License-Identifier: MIT */
/**
 * stackwalk/snapshot/dispatch.h - recognizes the managed functions with which a runtime handles
 * exceptions.
 *
 * From 9.0 on, exceptions are dispatched by managed code of System.Private.CoreLib. Its frames
 * are on the stack like others, but no runtime reports them. */
#ifndef SXS_STACKWALK_SNAPSHOT_DISPATCH_H
#define SXS_STACKWALK_SNAPSHOT_DISPATCH_H

#include "manager/runtime.h"

/**
 * sxs_dispatch_module - must be called for each module that is loaded. The first module of each
 * runtime is System.Private.CoreLib. Any thread. */
void sxs_dispatch_module(sxs_module module);

/**
 * sxs_dispatch_learn - look up the classes that handle exceptions, once per runtime. On a thread
 * that @rt does not know, while @rt is not suspended. */
void sxs_dispatch_learn(struct sxs_runtime *rt);

/**
 * sxs_dispatch_is - whether @fn is such a function. Any thread, whether or not the runtime is
 * suspended; no lock. Returns 0 before sxs_dispatch_learn(). */
int sxs_dispatch_is(sxs_function fn);

#endif
