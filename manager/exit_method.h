/* SPDX-License-Identifier: MIT */
/**
 * exit_method.h - detects the end of a program while its runtime can still run a collection.
 *
 * When a runtime raises Shutdown, it does not collect any more. Before that it calls the managed
 * method System.AppContext.OnProcessExit(), which raises the event ProcessExit: when Main returns,
 * in Environment.Exit(), and when the host shuts the runtime down. The first call of a method is
 * reported, because its code must be found (JITCachedFunctionSearchStarted) or compiled
 * (JITCompilationStarted). A tool that handles both, with COR_PRF_MONITOR_CACHE_SEARCHES and
 * COR_PRF_MONITOR_JIT_COMPILATION set when the runtime starts, gets them in time, on the thread that ends
 * the program; it may wait there for a forced collection.
 */
#ifndef SXS_MANAGER_EXIT_METHOD_H
#define SXS_MANAGER_EXIT_METHOD_H

#include "manager/runtime.h"

/** That method of one runtime. Zeroed: not known. */
struct sxs_exit_method {
    ModuleID    module;
    mdMethodDef method; /* 0: not known */
};

/** sxs_exit_method_find - look for the method in @module, the runtime's first one. Call in
 *  ModuleLoadFinished. @out: unchanged if it is not there. */
void sxs_exit_method_find(struct sxs_exit_method *out, sxs_module module);

/** sxs_exit_method_is - return 1 if @function is the method. Call in the two callbacks above. */
int sxs_exit_method_is(const struct sxs_exit_method *m, sxs_function function);

#endif
