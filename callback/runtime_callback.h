/* SPDX-License-Identifier: MIT */
/** runtime_callback.h - the object a runtime calls: ICorProfilerCallback to Callback11. */
#ifndef SXS_RUNTIME_CALLBACK_H
#define SXS_RUNTIME_CALLBACK_H

#include "manager/runtime.h"

/**
 * sxs_callback_new - a callback object for one runtime, with one reference.
 * @rt: owned on success; dropped with the object's last Release. Returns NULL when out of memory.
 */
ICorProfilerCallback11 *sxs_callback_new(struct sxs_runtime *rt);

#endif
