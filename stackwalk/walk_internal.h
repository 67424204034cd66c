/* SPDX-License-Identifier: MIT */
/**
 * stackwalk/walk_internal.h - declarations shared by the walkers in stackwalk/. For this folder
 * and its tests only. */
#ifndef SXS_STACKWALK_WALK_INTERNAL_H
#define SXS_STACKWALK_WALK_INTERNAL_H

#include "stackwalk/fast/unwind_library.h"
#include "stackwalk/seed.h"
#include "stackwalk/walk.h"

/** A growing run of frames that one runtime reports. */
struct sxs_snapshot {
    struct sxs_runtime *rt;  /* borrowed from the walk */
    struct sxs_run      run; /* the frames are owned */
    size_t              cap;
    uintptr_t           from_sp; /* younger frames are left out */
    int                 full, no_memory;
};

/**
 * sxs_snapshot_take - call DoStackSnapshot for the calling thread.
 * @snap: its previous frames are replaced.
 * @seed: the frame to start from; it must be in managed code of that runtime. NULL: the runtime
 *   chooses the frame.
 * Returns the runtime's HRESULT. Returns S_OK also when the buffer became full (snap->full) or
 * memory ran out (snap->no_memory). Must not be called from signal handlers. */
HRESULT sxs_snapshot_take(struct sxs_snapshot *snap, const struct sxs_seed *seed);
void    sxs_snapshot_free(struct sxs_snapshot *snap);

/** sxs_walk_begin - zero @walk and take a reference to each live runtime in walk->rts. */
void sxs_walk_begin(struct sxs_walk *walk);

/**
 * A libunwind cursor and the registers it started from. Must not be moved or copied, because the
 * cursor points to the registers. */
struct sxs_native {
    unw_context_t uc;
    unw_cursor_t  cursor;
};

/**
 * sxs_native_open - start at the frame in which the caller ran unw_getcontext(&native->uc). That
 * frame must not have returned yet. Returns 0 or -1. */
int sxs_native_open(struct sxs_native *native);
/**
 * sxs_native_seed - start at the frame that @seed describes.
 * @exact_ip: as in struct sxs_frame.
 * @stack_end: upper limit of reads. Returns -1 when the SP is not below it. An RBP outside the
 *   stack cannot be a frame pointer; it is replaced by a readable address.
 * Returns 0 or -1. */
int sxs_native_seed(struct sxs_native *native, const struct sxs_seed *seed, int exact_ip,
                    uintptr_t stack_end);
/**
 * sxs_native_step - move to the caller. Returns 1, 0 at the bottom of the stack, or -1 when
 * libunwind cannot find the caller. */
int sxs_native_step(struct sxs_native *native);
/**
 * sxs_native_is_signal - true in a signal frame: the next older frame was interrupted, so its IP
 * is exact. */
int sxs_native_is_signal(struct sxs_native *native);
void sxs_native_regs(struct sxs_native *native, struct sxs_seed *out);

/**
 * sxs_native_in_file - true for code of a loaded file, which has unwind information; false for
 * generated code. */
int sxs_native_in_file(uintptr_t ip);
/** sxs_native_is_code - true if @ip is in a loaded file or in an executable mapping. */
int sxs_native_is_code(uintptr_t ip);

/**
 * sxs_native_stack_end - the end (exclusive) of the stack that contains @sp, or 0 when @sp is
 * not in mapped memory. */
uintptr_t sxs_native_stack_end(uintptr_t sp);

#endif
