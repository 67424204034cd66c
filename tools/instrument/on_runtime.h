/* SPDX-License-Identifier: MIT */
/** on_runtime.h - private to instrument.c and compile_events.c: one runtime, and what its compilations bring. */
#ifndef SXS_REWRITE_ON_RUNTIME_H
#define SXS_REWRITE_ON_RUNTIME_H

#include "manager/tool.h"
#include "instr/rejit/requests.h"

/* One runtime that the tool is at work on. */
struct on_runtime {
    struct on_runtime  *next;
    struct sxs_runtime *rt; /* a reference */
    ModuleID           *modules;
    size_t              n, cap;
    ModuleID            read; /* a thread of ours reads it: it must stay. 0: none */
    int                 ended;
    _Atomic int         attached; /* 1: modules that were loaded before are still to be found */
    struct sxs_compiles compiles;
};

/* Events, by their names in struct sxs_events: GetReJITParameters, JITCompilationStarted and so on. sub->state is a
 * struct on_runtime, or NULL while the tool is not at work. */
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
