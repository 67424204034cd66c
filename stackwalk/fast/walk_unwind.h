/* SPDX-License-Identifier: MIT */
/**
 * stackwalk/fast/walk_unwind.h - walks the stack of an interrupted thread with libunwind, for
 * comparison with the fast walk.
 *
 * libunwind's own access to the process is not used, because it calls dl_iterate_phdr(), which takes
 * the loader's lock: the interrupted thread may hold a lock that the holder of the loader's lock
 * waits for. Instead, libunwind walks as in another process: it asks functions of this file for the
 * unwind information, which is in the copies of stackwalk/fast/tables.h, and for memory.
 */
#ifndef SXS_STACKWALK_FAST_WALK_UNWIND_H
#define SXS_STACKWALK_FAST_WALK_UNWIND_H

#include "stackwalk/fast/walk_fast.h"

/**
 * sxs_walk_unwind_prepare - load libunwind's library for other processes.
 * Returns 0, or -1 if it cannot be loaded; then each walk has one frame. Call before the first
 * walk. Not signal-safe. */
int sxs_walk_unwind_prepare(void);

/**
 * sxs_walk_unwind - walk the stack from the point where @uc was interrupted.
 * @limits, @ips, @end: as for sxs_walk_fast(); find_code and counts are not used.
 * Returns the number of IPs, at least 1. Signal-safe: takes no lock but those of libunwind's memory
 * pools, which are held with all signals blocked. */
SXS_SIGSAFE size_t sxs_walk_unwind(const ucontext_t *uc, const struct sxs_walk_limits *limits,
                                   uintptr_t *ips, enum sxs_sample_end *end);

#endif
