/* SPDX-License-Identifier: MIT */
/**
 * manager.h - the one per process: admits runtimes, numbers them, decides who is profiled.
 *
 * Lock order, outermost first (the loader's lock may already be held when we are entered):
 *   1. manager.lock          the list of runtimes, who was picked; no CLR call inside
 *   2. sxs_runtime.mask_lock one runtime's event masks; SetEventMask of that runtime is called inside, and
 *                            no function of a tool: start() and release() run without it
 *   3. the router's lock     signals/; nothing of ours is called inside
 */
#ifndef SXS_MANAGER_H
#define SXS_MANAGER_H

#include "manager/tool.h"

/** Reads the settings, opens the session. @tools: static, kept. The first call counts; any thread. */
void sxs_manager_init(const struct sxs_tool *const *tools, size_t n_tools);

/**
 * sxs_manager_admit - a runtime asks the class factory for an instance.
 * @caller: an address in that runtime's module. @out: receives a new reference on success.
 * Takes its signal handlers into the router. Returns S_OK, E_OUTOFMEMORY, or E_FAIL when policy
 * (SXSPROF_PICK=first with SXSPROF_UNPICKED=cancel) turns it away. Any thread, several at once.
 */
HRESULT sxs_manager_admit(uintptr_t caller, struct sxs_runtime **out);

/**
 * sxs_manager_initialize - the runtime's Initialize or InitializeForAttach.
 * Returns S_OK (picked or guarded), CORPROF_E_PROFILER_CANCEL_ACTIVATION (policy), or what failed; in
 * both latter cases the runtime goes on without us.
 */
HRESULT sxs_manager_initialize(struct sxs_runtime *rt, IUnknown *info, int attach);

/** Shutdown (@detached 0), detach (1), or the last Release of an instance that never got so far. */
void sxs_manager_ended(struct sxs_runtime *rt, int detached);

#endif
