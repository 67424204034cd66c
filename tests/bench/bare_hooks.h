/* SPDX-License-Identifier: MIT */
/** bare_hooks.h - hooks of the bare profiler. */
#ifndef SXS_BARE_HOOKS_H
#define SXS_BARE_HOOKS_H

#include "sxs_abi.h"

/** Sets the event mask for the hooks that BARE_HOOKS names, and them. In Initialize. */
HRESULT bare_set_hooks(ICorProfilerInfo15 *runtime);

/** 1: BARE_HOOKS is @name, or, with NULL, is set. */
int bare_hooks_are(const char *name);

/** Changes every small method when it is compiled: the slot JITCompilationStarted with BARE_INSERT. (bare_insert.c) */
HRESULT bare_insert(IUnknown *self, FunctionID function, BOOL is_safe_to_block);
void    bare_insert_begin(ICorProfilerInfo15 *of);

#endif
