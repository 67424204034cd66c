/* SPDX-License-Identifier: MIT */
/** walk_internal.h - what the walkers share; for this folder and its tests. */
#ifndef SXS_WALK_INTERNAL_H
#define SXS_WALK_INTERNAL_H

#define UNW_LOCAL_ONLY
#include <libunwind.h>

#include "stackwalk/walk.h"

/** A run that grows, and the walk it is for. */
struct sxs_snapshot {
    struct sxs_runtime *rt;  /* borrowed from the walk */
    struct sxs_run      run; /* frames owned */
    size_t              cap;
    uintptr_t           from_sp; /* younger frames are left out */
    int                 full, no_memory;
};

/**
 * sxs_snapshot_take - DoStackSnapshot of the calling thread.
 * @seed: where to start, a frame of that runtime's managed code; NULL: the runtime's own choice.
 * Returns the runtime's HRESULT; S_OK also when the buffer filled up (snap->full). The frames it
 * had are replaced. Not for signal handlers.
 */
HRESULT sxs_snapshot_take(struct sxs_snapshot *snap, const struct sxs_seed *seed);
void    sxs_snapshot_free(struct sxs_snapshot *snap);

/** Fills walk->rts and zeroes the rest. */
void sxs_walk_begin(struct sxs_walk *walk);

/** A libunwind cursor with the registers it started from; must not be moved or copied. */
struct sxs_native {
    unw_context_t uc;
    unw_cursor_t  cursor;
};

/** Starts where unw_getcontext(&native->uc) was called: that frame must still be live. 0 or -1. */
int sxs_native_open(struct sxs_native *native);
/**
 * Starts in the frame that @seed describes; @exact_ip as in struct sxs_frame. 0 or -1.
 * @stack_end bounds what may be read: a SP that is not below it is refused, and a RBP that lies off
 * the stack, hence is no frame pointer, is replaced by one that can be read.
 */
int sxs_native_seed(struct sxs_native *native, const struct sxs_seed *seed, int exact_ip,
                    uintptr_t stack_end);
/** To the caller: 1, 0 at the bottom of the stack, -1 when there is no way on. */
int sxs_native_step(struct sxs_native *native);
/** True in a frame that a signal interrupted: its caller's IP will be exact. */
int sxs_native_is_signal(struct sxs_native *native);
void sxs_native_regs(struct sxs_native *native, struct sxs_seed *out);

/** True for code of a loaded file, which has unwind information; false for generated code. */
int sxs_native_in_file(uintptr_t ip);
/** True where code of any kind may lie. */
int sxs_native_is_code(uintptr_t ip);

/** End (exclusive) of the stack that @sp lies on; 0 when that is no mapped memory. */
uintptr_t sxs_native_stack_end(uintptr_t sp);

/* seed_x86_64.c: one set of registers, three shapes. */

/** Enough for any runtime's CONTEXT (3232 bytes in 10.0, which is the largest known). */
#define SXS_CONTEXT_BYTES 4096
/** From a CONTEXT of @size bytes. Returns 0, or -1 when it is too short to hold the registers. */
int  sxs_seed_from_context(struct sxs_seed *seed, const uint8_t *context, size_t size);
/** Into @context, SXS_CONTEXT_BYTES aligned to 16, wholly overwritten. */
void sxs_seed_to_context(const struct sxs_seed *seed, uint8_t *context);
void sxs_seed_to_unwind(const struct sxs_seed *seed, unw_context_t *uc);
/** True when two words at RBP lie between SP and @stack_end. */
int  sxs_seed_rbp_on_stack(const struct sxs_seed *seed, uintptr_t stack_end);
/** The caller by the RBP chain, if that lies between @seed's SP and @stack_end. 0 or -1. */
int  sxs_seed_caller_by_rbp(const struct sxs_seed *seed, uintptr_t stack_end, struct sxs_seed *out);

#endif
