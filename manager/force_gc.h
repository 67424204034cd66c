/* SPDX-License-Identifier: MIT */
/** force_gc.h - force a collection in a runtime, on a thread of the library. */
#ifndef SXS_MANAGER_FORCE_GC_H
#define SXS_MANAGER_FORCE_GC_H

#include "manager/runtime.h"

/**
 * sxs_force_gc - collect all generations of @rt, and wait until that is done.
 * A runtime refuses ForceGC on threads that run its managed code. So the call is made on a thread of
 * the library that no runtime knows, which is started when it is needed and ends afterwards.
 * Callers wait for one another: one collection at a time.
 * Returns S_OK, or the failure of the runtime: CORPROF_E_NOT_YET_AVAILABLE before its collector has
 * started, CORPROF_E_RUNTIME_UNINITIALIZED when it has ended, or in a forked child; E_OUTOFMEMORY
 * when no thread can be started.
 * Any thread that does not keep @rt from suspending its threads: not inside hooks of calls, and not
 * inside callbacks of a collection. Not signal-safe.
 */
HRESULT sxs_force_gc(struct sxs_runtime *rt);

#endif
