/* SPDX-License-Identifier: MIT */
/**
 * count.h - what hooks do. callback/elt_*.S calls these with every register saved that a compiled
 * function may hold something in, but for vector registers.
 *
 * The first of each pair is compiled without vector registers and takes only the beaten path. It
 * returns nonzero when there is more to do (a thread's first call, a path's first call): then the hook
 * saves the vector registers too and calls the second, which does all of it.
 */
#ifndef SXS_CALLS_COUNT_H
#define SXS_CALLS_COUNT_H

#include <stdint.h>

struct sxs_called;

/** @fn: what the mapper returned. @sp: of the caller, as the runtime tells. @first: what the function's
 *  first argument's register holds. @now: the tick, read as the hook began. */
int  sxs_tree_enter(struct sxs_called *fn, uintptr_t sp);
void sxs_tree_enter_slow(struct sxs_called *fn, uintptr_t sp, uintptr_t first);
int  sxs_tree_leave(struct sxs_called *fn, uintptr_t sp, uint64_t now);
void sxs_tree_leave_slow(struct sxs_called *fn, uintptr_t sp);

/** The same, and each call is recorded with its times. */
int  sxs_trace_enter(struct sxs_called *fn, uintptr_t sp);
int  sxs_trace_leave(struct sxs_called *fn, uintptr_t sp, uint64_t now);

int  sxs_time_enter(struct sxs_called *fn, uintptr_t sp);
void sxs_time_enter_slow(struct sxs_called *fn, uintptr_t sp);
int  sxs_time_leave(struct sxs_called *fn, uintptr_t sp, uint64_t now);
void sxs_time_leave_slow(struct sxs_called *fn, uintptr_t sp);

/** The beaten path is in the hook itself. */
void sxs_count_enter_slow(struct sxs_called *fn, uintptr_t sp);

/** Where in a list of hooks by enum sxs_calls_mode those are that record each call. */
#define SXS_CALLS_TRACE_HOOKS 4

/** The same with values. These are called by the runtime's own code, which has saved what must be, as
 *  any C function: @info is its COR_PRF_ELT_INFO. There is no tailcall hook (tools/calls/values.c says why): the next
 *  enter or leave on the thread ends the calls that tail calls have left. */
#define SXS_CALLS_VALUES_HOOKS 5
void sxs_values_enter(struct sxs_called *fn, uintptr_t info);
void sxs_values_leave(struct sxs_called *fn, uintptr_t info);

/** The hooks themselves: callback/elt_x86_64.S, callback/elt_aarch64.S. NULL: none is set. */
struct sxs_calls_hooks {
    void (*enter)(void), (*leave)(void), (*tailcall)(void);
};

#endif
