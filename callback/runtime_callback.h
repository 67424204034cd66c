/* SPDX-License-Identifier: MIT */
/** runtime_callback.h - the callback object of a runtime: ICorProfilerCallback to Callback11. */
#ifndef SXS_CALLBACK_RUNTIME_CALLBACK_H
#define SXS_CALLBACK_RUNTIME_CALLBACK_H

#include "manager/runtime.h"

/**
 * sxs_callback_new - create the callback object of one runtime.
 * @rt: owned on success; the reference is dropped by the object's last Release.
 * Returns the object with one reference, or NULL when out of memory.
 */
ICorProfilerCallback11 *sxs_callback_new(struct sxs_runtime *rt);

#endif
