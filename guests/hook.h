/* SPDX-License-Identifier: MIT */
/**
 * hook.h - raw profiler hooks: a plug-in of the engine (clrie/) brings a profiler of its own, the
 * object that it gives to IProfilerManager::AddRawProfilerHook(). It becomes a guest of this runtime
 * after the engine.
 */
#ifndef SXS_GUESTS_HOOK_H
#define SXS_GUESTS_HOOK_H

#include "guests/guest.h"

/** guest_hook_find - find the object that a plug-in has added on @rt.
 *  @version: receives its highest ICorProfilerCallback, at most 7: CLRIE asks for no newer one.
 *  Returns the object with a reference, or NULL when there is none. */
ICorProfilerCallback11 *guest_hook_find(const struct guest *guest, struct sxs_runtime *rt,
                                        unsigned *version);

/** guest_hook_started - the instance receives events from now on: RemoveRawProfilerHook() ends it. */
void guest_hook_started(struct guest_instance *g);

#endif
