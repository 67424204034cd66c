/* SPDX-License-Identifier: MIT */
/**
 * tools/heap/exit.h - finds the moment at which a program ends and its runtime still collects.
 *
 * When a runtime raises Shutdown, it does not collect any more. Before that it calls the managed
 * method System.AppContext.OnProcessExit(), which raises the event ProcessExit: when Main returns,
 * in Environment.Exit(), and when the host shuts the runtime down. The first call of a method is
 * reported, because its code must be found (JITCachedFunctionSearchStarted) or compiled.
 */
#ifndef SXS_TOOLS_HEAP_EXIT_H
#define SXS_TOOLS_HEAP_EXIT_H

#include "tools/heap/snapshot.h"

/** sxs_heap_find_exit - note that method. @module: the runtime's first one. In ModuleLoadFinished.
 *  */
void sxs_heap_find_exit(struct sxs_heap_runtime *h, sxs_module module);

/** Handlers of the callbacks with these names: they wait for the snapshot at exit when that method
 *  is about to be called. */
HRESULT sxs_heap_search_started(struct sxs_sub *sub, sxs_function function, BOOL *use);
HRESULT sxs_heap_jit_started(struct sxs_sub *sub, sxs_function function, BOOL safe);

#endif
