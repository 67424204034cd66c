/* SPDX-License-Identifier: MIT */
/**
 * sampling/walk.h - walks the stack of the calling thread within its bounds, which are found
 * in the table of threads or the list of mappings (sampling/stacks.h). */
#ifndef SXS_SAMPLING_WALK_H
#define SXS_SAMPLING_WALK_H

#include <ucontext.h>

#include "sampling/threads.h"
#include "stackwalk/fast/walk_fast.h"

#define SXS_WALK_CYCLES UINT64_C(1000000) /* the usual limit of a walk, some 0.3 ms */

/** sxs_walk_prepare - must be called before the first walk. Any thread. */
void sxs_walk_prepare(void);

/**
 * sxs_walk_interrupted - walk the stack that a signal has interrupted. Called in its handler.
 * @t: the calling thread, or NULL; @tid: its number. @uc: as the kernel gave it to the handler.
 * @limits: cycles and max are set, the rest is not.
 * @ips: room for limits.max elements, at least 1; receives the interrupted IP first.
 * @sps: NULL, or receives the frames' stack pointers; then the fast walker is used whatever @walker
 *   is.
 * @end: receives the reason why there are no more frames.
 * Returns the number of IPs, at least 1. Signal-safe; changes errno. */
SXS_SIGSAFE size_t sxs_walk_interrupted(const struct sxs_thread_slot *t, uint32_t tid,
                                        enum sxs_sample_walker walker, const ucontext_t *uc,
                                        struct sxs_walk_limits limits, uintptr_t *ips,
                                        uintptr_t *sps, enum sxs_sample_end *end);

/**
 * sxs_walk_own - walk the stack of the calling thread from a point in the calling function.
 * @uc: the registers of that point, stored by SXS_CONTEXT_HERE(); no other member is read. The calling
 *   function must not have returned during the walk. The rest as for sxs_walk_interrupted(). */
SXS_SIGSAFE size_t sxs_walk_own(const struct sxs_thread_slot *t, uint32_t tid, const ucontext_t *uc,
                                struct sxs_walk_limits limits, uintptr_t *ips,
                                enum sxs_sample_end *end);

/**
 * sxs_walk_waiting - walk the stack of thread @tid, which waits in a system call, without a signal.
 * @ip, @sp: its registers; others are not known, so that the walk ends where one of them is needed.
 * If the thread goes on meanwhile, the result is wrong. The rest as for sxs_walk_interrupted().
 * Any thread. */
size_t sxs_walk_waiting(const struct sxs_thread_slot *t, uint32_t tid, uintptr_t ip, uintptr_t sp,
                        struct sxs_walk_limits limits, uintptr_t *ips, enum sxs_sample_end *end);

#endif
