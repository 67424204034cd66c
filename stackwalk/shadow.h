/* SPDX-License-Identifier: MIT */
/**
 * stackwalk/shadow.h - lets a tool provide sxsprof_print_stack() with call stacks that the tool
 * maintains itself ("shadow stacks"). */
#ifndef SXS_STACKWALK_SHADOW_H
#define SXS_STACKWALK_SHADOW_H

#include "stackwalk/walk.h"

/**
 * sxs_shadow_fn - copy the calling thread's shadow stack into @walk, youngest frame first.
 * @walk: receives the frames through sxs_walk_push(). Only `fn` and `at.rsp` of each frame are
 *   set; `fn.rt` is an element of walk->rts.
 * Returns 0, or -ENODATA when the tool keeps no stack of this thread. */
typedef int (*sxs_shadow_fn)(struct sxs_walk *walk);

/**
 * sxs_shadow_use - register the functions that provide shadow stacks.
 * @fn: provides the physical stack: a frame's caller follows the frame.
 * @logical: provides the logical stack: the method that awaits a frame's method follows the
 *   frame.
 * Call once, before any thread may print a stack. */
void sxs_shadow_use(sxs_shadow_fn fn, sxs_shadow_fn logical);

/**
 * sxs_walk_shadow - fill @walk by a function that sxs_shadow_use() registered.
 * @walk: overwritten; pass it to sxs_walk_free() afterwards.
 * @logical: 1 for the logical stack, 0 for the physical stack.
 * Returns 0, or -ENODATA when there is no function or no stack. */
int sxs_walk_shadow(struct sxs_walk *walk, int logical);

#endif
