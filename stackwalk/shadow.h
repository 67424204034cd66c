/* SPDX-License-Identifier: MIT */
/** shadow.h - stacks that a feature above this folder keeps of its own, for sxsprof_print_stack(). */
#ifndef SXS_STACKWALK_SHADOW_H
#define SXS_STACKWALK_SHADOW_H

#include "stackwalk/walk.h"

/**
 * sxs_shadow_fn - the calling thread's frames, youngest first.
 * Fills walk->frames with fn (its rt one of walk->rts) and at.rsp, by sxs_walk_push(). Returns 0, or
 * -ENODATA when no such stack is kept.
 */
typedef int (*sxs_shadow_fn)(struct sxs_walk *walk);

/** Once, before any thread may print. @logical: those who await in place of who called. */
void sxs_shadow_use(sxs_shadow_fn fn, sxs_shadow_fn logical);

/** Walks by the function in use: @walk is overwritten, and to be freed. 0 or -ENODATA. */
int sxs_walk_shadow(struct sxs_walk *walk, int logical);

#endif
