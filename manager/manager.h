/* SPDX-License-Identifier: MIT */
/**
 * manager.h - the process-wide singleton that admits and numbers runtimes and decides which of them
 * are profiled.
 *
 * Lock order, outermost first. The loader's lock may already be held when a runtime calls in.
 *   0. sessions.turn         (sessions.c) held while a session begins or ends, and while tools are
 *                            started or stopped on a runtime; the CLR and all functions of tools
 *                            except handlers may be called under it
 *   1. manager.lock          guards the list of runtimes and the number of the runtime that was
 *                            first; no CLR is called while it is held
 *   2. sxs_runtime.mask_lock guards one runtime's event masks; SetEventMask of that runtime is
 *                            called while it is held, but no function of a tool (start() and
 *                            release() run without it)
 *   3. the router's lock     in signals/; no code outside signals/ is called while it is held
 */
#ifndef SXS_MANAGER_MANAGER_H
#define SXS_MANAGER_MANAGER_H

#include "manager/tool.h"

/** sxs_manager_init - read the settings and open the session.
 *  @tools: the tools that exist; static, kept.
 *  Only the first call has an effect. Any thread. */
void sxs_manager_init(const struct sxs_tool *const *tools, size_t n_tools);

/**
 * sxs_manager_admit - admit a runtime that asks the class factory for an instance.
 * @caller: an address in that runtime's module.
 * @out: receives a new reference on success.
 * Puts the runtime's signal handlers under the signal router.
 * Returns S_OK, E_OUTOFMEMORY, or E_FAIL when the settings (SXSPROF_PICK=first with
 * SXSPROF_UNPICKED=cancel) turn the runtime away. Any thread, several at once.
 */
HRESULT sxs_manager_admit(uintptr_t caller, struct sxs_runtime **out);

/**
 * sxs_manager_initialize - handle Initialize (@attach 0) or InitializeForAttach (1) of a runtime.
 * @info: the object that the runtime passed; borrowed.
 * Returns S_OK when the runtime is picked or guarded, CORPROF_E_PROFILER_CANCEL_ACTIVATION when the
 * settings exclude it, or the failure of its Info. After a failure the runtime runs without the
 * profiler.
 */
HRESULT sxs_manager_initialize(struct sxs_runtime *rt, IUnknown *info, int attach);

/** sxs_manager_ended - end the profiling of a runtime.
 *  @detached: 0 in Shutdown or after a failed Initialize; 1 when the profiler was detached, or at
 *    the last Release of a callback object.
 *  Does nothing when the runtime has already ended, or in a forked child. */
void sxs_manager_ended(struct sxs_runtime *rt, int detached);

/** sxs_manager_shut_down - like sxs_manager_ended(), in Shutdown. Also tells the signal router that the
 *  runtime itself ends, when all tools have stopped. */
void sxs_manager_shut_down(struct sxs_runtime *rt);

/** sxs_manager_detached - end the profiling of a runtime from which the library was detached, and which
 *  runs on (ProfilerDetachSucceeded). When the library is attached to it again, it gets the same number. */
void sxs_manager_detached(struct sxs_runtime *rt);

/** sxs_manager_find_detached - return the runtimes from which the library was detached, and to which it was not
 *  attached again. Bit N is that of runtime N + 1. Any thread; takes the manager's lock. */
uint64_t sxs_manager_find_detached(void);

/** Add tools that are found at run time, such as guests, after those of SXSPROF_TOOLS. Call it after
 *  sxs_manager_init(), before any runtime is admitted. @tools: static; copied. */
void sxs_manager_enable(const struct sxs_enabled_tool *tools, size_t n);

/** Return how many runtimes have been admitted so far. Any thread; signal-safe. */
SXS_SIGSAFE unsigned sxs_manager_n_admitted(void);

#endif
