/* SPDX-License-Identifier: MIT */
/**
 * await.h - who awaits the async method that goes on here: its logical callers.
 *
 * The compiler makes an async method a state machine, whose MoveNext is called again after each await,
 * by the thread pool or by whatever completed what it awaited. The machine lies in a box, which is the
 * method's task; the task knows what goes on when it is done: another box, as a rule.
 * docs/calls.md, "Await", tells which fields are followed.
 */
#ifndef SXS_CALLS_AWAIT_H
#define SXS_CALLS_AWAIT_H

#include "tools/calls/functions.h"

#define SXS_AWAIT_MAX 256u /* callers looked for */

/** @rt is watched: before its first class is loaded. */
void sxs_await_runtime(struct sxs_runtime *rt);
/** @cls was loaded, or is about to go. In callbacks of its runtime. */
void sxs_await_class(sxs_class cls);
void sxs_await_class_gone(sxs_class cls);

/** If @method is the MoveNext of an async state machine, notes it for @called. In callbacks of its runtime.
 *  @cls: the class it is a method of, 0: not told. */
void sxs_await_method(struct sxs_called *called, sxs_module module, mdToken method, ClassID cls);

/**
 * sxs_await_callers - in the enter hook of such a MoveNext: is it going on after an await, and for whom?
 * @sp: of the hook's caller. @self: its first argument: the machine, or its address.
 * Returns -1 when it is called the first time, by the stack below it, or cannot be told; else how many
 * hooked methods were written to @out (SXS_AWAIT_MAX of room), the one that awaits @fn first.
 *
 * Reads objects of the runtime: only on a thread in cooperative mode, where none can be moved or freed
 * until the hook returns. No field of an object is believed before its method table is known.
 * No lock, no call of a runtime.
 */
int sxs_await_callers(const struct sxs_called *fn, uintptr_t sp, uintptr_t self,
                      struct sxs_called **out);

#endif
