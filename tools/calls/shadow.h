/* SPDX-License-Identifier: MIT */
/** shadow.h - reads the calling thread's shadow stack: its hooked calls in progress. */
#ifndef SXS_TOOLS_CALLS_SHADOW_H
#define SXS_TOOLS_CALLS_SHADOW_H

#include "stackwalk/shadow.h"

/** sxs_calls_shadow - write the shadow stack to @walk; a sxs_shadow_fn. A frame's at.rsp is the
 *  stack pointer of its caller. A thread without hooked calls has no frames.
 *  Returns 0, or -ENODATA when the mode is "count", which keeps no shadow stack. */
int sxs_calls_shadow(struct sxs_walk *walk);

/** sxs_calls_logical - write the logical stack to @walk; a sxs_shadow_fn. As sxs_calls_shadow(),
 *  but the frames below a method that resumed after an await are replaced by the methods that await
 *  it (their at.rsp is 0). Returns 0, or -ENODATA when the tool does not follow awaits. */
int sxs_calls_logical(struct sxs_walk *walk);

#endif
