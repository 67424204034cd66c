/* SPDX-License-Identifier: MIT */
/**
 * await.h - finds the logical callers of an async method: the methods that await it.
 *
 * The C# compiler turns an async method into a state machine. The machine's method MoveNext is
 * called again after each await, by the thread pool or by the code that completed the awaited task.
 * The machine lies in an object called its box, which is also the method's task. The task has a
 * reference to its continuation, which is usually the box of the awaiting method.
 * docs/internals/calls.md, "Await", lists the fields that are followed.
 */
#ifndef SXS_TOOLS_CALLS_AWAIT_H
#define SXS_TOOLS_CALLS_AWAIT_H

#include "tools/calls/called.h"

#define SXS_AWAIT_MAX 256u /* largest number of callers that sxs_await_callers() returns */

/** sxs_await_runtime - start to follow the awaits of @rt. Takes a reference on @rt that is never
 *  dropped. Call before the first class of @rt is loaded. Without memory, awaits of @rt are not
 *  followed. */
void sxs_await_runtime(struct sxs_runtime *rt);

/** sxs_await_class - record the field offsets of @cls if the search for callers needs that class.
 *  Called in the runtime's callback, after @cls was loaded. */
void sxs_await_class(sxs_class cls);

/** sxs_await_class_gone - forget @cls. Called in the runtime's callback before @cls is unloaded. */
void sxs_await_class_gone(sxs_class cls);

/** sxs_await_method - set SXS_CALLED_RESUMES in @called if @method is the MoveNext of an async
 *  state machine.
 *  @called: the instrumented method.
 *  @module, @method: its definition.
 *  @cls: the class that @method belongs to; 0 when the runtime did not report the class.
 *  Called in callbacks of the method's runtime. */
void sxs_await_method(struct sxs_called *called, sxs_module module, mdToken method, ClassID cls);

/**
 * sxs_await_callers - find the methods that await the state machine of a MoveNext that resumes.
 * @fn:   the MoveNext whose enter hook is running; SXS_CALLED_RESUMES is set in it.
 * @sp:   the stack pointer of its caller.
 * @self: the first argument of the MoveNext: the machine object, or the address of the machine
 *   struct.
 * @out:  receives the hooked methods, borrowed; room for SXS_AWAIT_MAX. out[0] awaits @fn, out[1]
 *        awaits out[0], and so on.
 * Returns the number of methods written to @out. Returns -1 when the method does not resume after
 * an await (the first call comes from its caller on the stack), or when this cannot be determined.
 *
 * Reads objects of the runtime. Call only on a thread in cooperative mode, where the runtime
 * neither moves nor frees objects until the hook returns. Reads a field of an object only after the
 * object's method table has been recognised. Takes no lock and calls no runtime.
 */
int sxs_await_callers(const struct sxs_called *fn, uintptr_t sp, uintptr_t self,
                      struct sxs_called **out);

#endif
