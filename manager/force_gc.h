/* SPDX-License-Identifier: MIT */
/**
 * force_gc.h - force a collection in a runtime, on a thread of the library.
 *
 * A runtime refuses ForceGC on threads that run its managed code, and may make the calling thread
 * one of its own. So there is a thread for such calls, which is started when it is needed and ends
 * when there is nothing to do. Callers wait for one another: one call at a time.
 */
#ifndef SXS_MANAGER_FORCE_GC_H
#define SXS_MANAGER_FORCE_GC_H

#include "manager/runtime.h"

/**
 * sxs_gc_thread_call - run @work(@arg) on that thread, and wait until it has returned.
 * Returns 0, or -1 when no thread can be started: one line is logged. Threads: as sxs_force_gc().
 */
int sxs_gc_thread_call(void (*work)(void *arg), void *arg);

/**
 * sxs_force_gc - collect all generations of @rt, and wait until that is done.
 * Returns S_OK, or the failure of the runtime: CORPROF_E_NOT_YET_AVAILABLE before its collector has
 * started, CORPROF_E_RUNTIME_UNINITIALIZED when it has ended, or in a forked child; E_OUTOFMEMORY
 * when no thread can be started.
 * Any thread that does not keep @rt from suspending its threads: not inside hooks of calls, and not
 * inside callbacks of a collection. Not signal-safe.
 */
HRESULT sxs_force_gc(struct sxs_runtime *rt);

#endif
