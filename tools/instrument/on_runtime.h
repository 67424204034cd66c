/* SPDX-License-Identifier: MIT */
/** on_runtime.h - private to instrument.c and compile_events.c: the tool's state for one runtime,
 *  and the handlers of compilation events. */
#ifndef SXS_TOOLS_INSTRUMENT_ON_RUNTIME_H
#define SXS_TOOLS_INSTRUMENT_ON_RUNTIME_H

#include "manager/tool.h"
#include "rejit/methods/requests.h"

/* One runtime in which the tool instruments methods. Freed when the session has ended. The fields next, modules, n, cap,
 * read and ended are guarded by the lock of modules.c. */
struct on_runtime {
    struct on_runtime  *next;
    struct sxs_runtime *rt;      /* a reference */
    struct sxs_sub     *sub;     /* lives as long as the runtime */
    ModuleID           *modules; /* loaded modules; owned */
    size_t              n, cap;  /* used and allocated elements of modules */
    ModuleID            read;  /* a thread of the library reads this module: its unloading waits */
    int                 ended; /* 1: the runtime has ended */
    _Atomic int         find;     /* 1: modules loaded before the tool was started are still to be
                                   * found */
    struct sxs_compiles compiles; /* running compilations; has a lock of its own */
};

/* Handlers of the events GetReJITParameters, JITCompilationStarted and so on: the table in
 * instrument.c assigns each to its event. sub->state is a struct on_runtime, or NULL when the tool
 * does nothing. */
HRESULT sxs_on_parameters(struct sxs_sub *sub, sxs_module module, mdMethodDef method,
                          ICorProfilerFunctionControl *control);
HRESULT sxs_on_compiling(struct sxs_sub *sub, sxs_function fn, BOOL safe);
HRESULT sxs_on_searching(struct sxs_sub *sub, sxs_function fn, BOOL *use);
HRESULT sxs_on_compiling_dynamic(struct sxs_sub *sub, sxs_function fn, BOOL safe, LPCBYTE il,
                                 ULONG size);
HRESULT sxs_on_compiled_dynamic(struct sxs_sub *sub, sxs_function fn, HRESULT status, BOOL safe);
HRESULT sxs_on_recompiling(struct sxs_sub *sub, sxs_function fn, sxs_rejit version, BOOL safe);
HRESULT sxs_on_recompiled(struct sxs_sub *sub, sxs_function fn, sxs_rejit version, HRESULT status,
                          BOOL safe);
HRESULT sxs_on_compiled(struct sxs_sub *sub, sxs_function fn, HRESULT status, BOOL safe);
HRESULT sxs_on_rejit_error(struct sxs_sub *sub, sxs_module module, mdMethodDef method,
                           sxs_function fn, HRESULT status);
HRESULT sxs_on_inlining(struct sxs_sub *sub, sxs_function caller, sxs_function callee,
                        BOOL *should);

#endif
