/* SPDX-License-Identifier: MIT */
/** shadow.h - the shadow stack of the calling thread. */
#ifndef SXS_CALLS_SHADOW_H
#define SXS_CALLS_SHADOW_H

#include "stackwalk/shadow.h"

/** As sxs_shadow_fn. A frame's at.rsp is its caller's stack pointer; a thread without hooked calls has
 *  no frames. -ENODATA when calls are counted without time. */
int sxs_calls_shadow(struct sxs_walk *walk);

/** The same, and in place of the frames below a method that goes on after an await, those who await it
 *  (at.rsp 0). -ENODATA unless the tool follows them. */
int sxs_calls_logical(struct sxs_walk *walk);

#endif
