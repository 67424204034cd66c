/* SPDX-License-Identifier: MIT */
/**
 * calls_functions.h - the C functions that the hooks of the tool calls call. They are in
 * tools/calls/. elt/calls_hooks_*.S calls them after it has saved every register that a compiled
 * function may be using, except the vector registers.
 *
 * Most hooks have two functions. The first is the fast path; it is compiled without vector
 * registers. It returns nonzero when the slow path is needed (for example for a thread's first call
 * or a path's first call). Then the hook also saves the vector registers and calls the second
 * function (..._slow), which does all of the work.
 */
#ifndef SXS_ELT_CALLS_FUNCTIONS_H
#define SXS_ELT_CALLS_FUNCTIONS_H

#include <stdint.h>

struct sxs_called;

/** Mode "tree": count and time each path.
 *  @fn: the marker that the mapper returned. @sp: the caller's stack pointer, as the runtime
 *  reports it.
 *  @first: content of the register that holds the function's first argument.
 *  @now: the tick at which the hook began. */
int  sxs_tree_enter(struct sxs_called *fn, uintptr_t sp);
void sxs_tree_enter_slow(struct sxs_called *fn, uintptr_t sp, uintptr_t first);
int  sxs_tree_leave(struct sxs_called *fn, uintptr_t sp, uint64_t now);
void sxs_tree_leave_slow(struct sxs_called *fn, uintptr_t sp);

/** Call trace: as mode "tree"; also record an event for the start and the end of each call. The
 *  slow path is that of mode "tree". */
int  sxs_trace_enter(struct sxs_called *fn, uintptr_t sp);
int  sxs_trace_leave(struct sxs_called *fn, uintptr_t sp, uint64_t now);

/** Mode "time": count and time each function. */
int  sxs_time_enter(struct sxs_called *fn, uintptr_t sp);
void sxs_time_enter_slow(struct sxs_called *fn, uintptr_t sp, uintptr_t first);
int  sxs_time_leave(struct sxs_called *fn, uintptr_t sp, uint64_t now);
void sxs_time_leave_slow(struct sxs_called *fn, uintptr_t sp);

/** The tailcall hook of the modes with times: @fn is about to be left by a fast tail call. */
void sxs_tails_left(struct sxs_called *fn, uintptr_t sp);

/** Mode "count": count the calls of each function. The fast path is in the assembly hook itself. */
void sxs_count_enter_slow(struct sxs_called *fn, uintptr_t sp);

/** Index of the call trace hooks in the array of hooks; enum sxs_calls_mode is the index of the
 *  others. */
#define SXS_CALLS_TRACE_HOOKS 4

/** Index of the hooks of a call trace with arguments and results. The runtime's own code calls
 *  these as ordinary C functions and has saved the registers before.
 *  @info: address of the runtime's COR_PRF_ELT_INFO. There is no tailcall hook
 *  (tools/calls/values.c explains why): the next enter or leave hook on the thread ends the calls
 *  that were left by tail calls. */
#define SXS_CALLS_VALUES_HOOKS 5
void sxs_values_enter(struct sxs_called *fn, uintptr_t info);
void sxs_values_leave(struct sxs_called *fn, uintptr_t info);

/** The assembly hooks of one mode, from arch/x86_64/elt/calls_hooks.S. NULL: the runtime gets no such
 *  hook. */
struct sxs_calls_hooks {
    void (*enter)(void), (*leave)(void), (*tailcall)(void);
};

#endif
