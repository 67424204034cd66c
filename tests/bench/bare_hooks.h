/* SPDX-License-Identifier: MIT */
/** bare_hooks.h - hooks of the bare profiler. */
#ifndef SXS_BARE_HOOKS_H
#define SXS_BARE_HOOKS_H

#include "sxs_abi.h"

/** Sets the event mask for the hooks that BARE_HOOKS names, and them. In Initialize. */
HRESULT bare_set_hooks(ICorProfilerInfo15 *runtime);

/** 1: BARE_HOOKS is @name, or, with NULL, is set. */
int bare_hooks_are(const char *name);

#endif
