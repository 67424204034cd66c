/* SPDX-License-Identifier: MIT */
/**
 * tails.h - calls that end in a tail call: their times and the place of their callees in the tree.
 * Private to tools/calls/.
 *
 * A tail call removes the caller's frame before the callee begins. In the tree and in the times the
 * call goes on until the callee has returned, as if the callee had been called in the usual way. A
 * runtime makes tail calls in two ways:
 *
 * - Fast: the compiled code jumps. The tailcall hook runs first. The callee has the same caller's
 *   stack pointer and the same return address.
 * - By a dispatcher, a function of the runtime: for `tail.` calls whose callee needs more stack for
 *   arguments, or when fast tail calls are off. The first caller calls the dispatcher, which calls
 *   the callee. A callee that makes a tail call itself calls the dispatcher again, which returns at
 *   once; the callee returns, and the first dispatcher makes its tail call. The dispatcher is hooked,
 *   but not counted. It has an untimed frame on the shadow stack.
 *
 * A frame that was left stays on the shadow stack until the callee has returned: SXS_TAILS_DISPATCHED
 * or the stack pointer minus 2 stands in its `sp` (is_left() in fast_path.h). When a function of the
 * same chain of tail calls is called again, the chain ends there, so that its length is bounded.
 */
#ifndef SXS_TOOLS_CALLS_TAILS_H
#define SXS_TOOLS_CALLS_TAILS_H

#include "tools/calls/thread_state.h"

#define SXS_TAILS_DISPATCHED 2u /* `sp` of a frame that was left by a dispatched tail call */

/** What the leave of a call does whose frame has a `began`. */
enum sxs_tails_how {
    SXS_TAILS_ENDS_CHAIN = 1, /* it ends the calls below that made the tail call, too */
    SXS_TAILS_DISPATCHES = 2, /* nothing ends: the dispatcher is about to make its tail call */
};

/** How a call began. */
enum sxs_tails_entry {
    SXS_TAILS_NONE = 0,
    SXS_TAILS_FAST,      /* by a fast tail call of the youngest frame's function */
    SXS_TAILS_DISPATCH,  /* by a dispatched tail call */
};

/** sxs_tails_enter - prepare the shadow stack for a call of @fn, and drop stale frames. */
enum sxs_tails_entry sxs_tails_enter(struct sxs_calls_state *s, const struct sxs_called *fn,
                                     uintptr_t sp);

/** sxs_tails_leave - handle the leave of @fn, as far as tail calls are concerned. s->now is the time.
 *  Returns 0 when the youngest frame is that of the call and is to be ended, 1 when nothing is left
 *  to do. */
int sxs_tails_leave(struct sxs_calls_state *s, struct sxs_called *fn, uintptr_t sp);

/** sxs_tails_end_chain - end the calls that have made a fast tail call of a call with the caller's
 *  stack pointer @sp, which has just ended. sxs_tails_leave() does so itself, unless the values of that
 *  call are recorded: its result comes first. */
void sxs_tails_end_chain(struct sxs_calls_state *s, uintptr_t sp);

/** sxs_tails_entered - note where the youngest call, whose caller has the stack pointer @sp, returns to,
 *  for sxs_tails_update(). */
void sxs_tails_entered(struct sxs_calls_state *s, uintptr_t sp);

/** sxs_tails_update - handle calls that were left by fast tail calls, when there is no tailcall hook.
 *  Their frames are still the youngest, as if nothing had happened. Call it before an enter (@enters)
 *  or leave with the caller's stack pointer @sp is handled. Marks a frame as left when @sp is that of
 *  its tail call's callee; ends calls whose frames are gone. */
void sxs_tails_update(struct sxs_calls_state *s, uintptr_t sp, int enters, uint64_t now);

/** sxs_tails_push_dispatcher - push the frame of the dispatcher @fn. @first: the dispatcher's first
 *  argument, the address of its caller's return address; 0: not known. */
void sxs_tails_push_dispatcher(struct sxs_calls_state *s, struct sxs_called *fn, uintptr_t sp,
                               uintptr_t first);

/** sxs_tails_add_stub - note a stub that the runtime has compiled, if the dispatcher calls the
 *  callees of tail calls through it. @name: of the stub. Call in a callback of its runtime. */
void sxs_tails_add_stub(sxs_function stub, const char *name);

/** sxs_calls_end_top - end the call of the youngest frame at tick @now, and pop the frame. In
 *  slow.c. */
void sxs_calls_end_top(struct sxs_calls_state *s, uint64_t now);

#endif
