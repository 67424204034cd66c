/* SPDX-License-Identifier: MIT */
/**
 * thrower.h - tells whether the function that threw an exception is still on the stack.
 *
 * 9.0 and later unwind an exception that nobody handles as they unwind one that native code
 * catches, and then end the process on the same thread. Memory of the stack tells the two apart:
 * while the runtime unwinds, the frame that called its throw helper stays where it is, and so does
 * the return address that this call has pushed.
 */
#ifndef SXS_TOOLS_EXCEPTIONS_THROWER_H
#define SXS_TOOLS_EXCEPTIONS_THROWER_H

#include <stdint.h>

#include "base/base.h"

/** The addresses of a runtime's library. */
struct sxs_runtime_code {
    uintptr_t from, to;
};

/** The return address of a throw helper. All zeros: not known. */
struct sxs_thrower {
    uintptr_t slot;  /* address of the return address, on the stack of the throwing thread */
    uintptr_t value; /* what it was */
};

/** sxs_runtime_code_find - find the library of the runtime that called the profiler. To be called
 *  in a callback. Takes the loader's lock. Returns all zeros when it is not found. */
struct sxs_runtime_code sxs_runtime_code_find(void);

/** sxs_thrower_find - find the call of the throw helper by the frame pointers of the calling
 *  thread. To be called in a callback of the runtime at @code, while its managed code for exceptions
 *  searches or unwinds. Returns all zeros when it is not found. Signal-safe. */
SXS_SIGSAFE struct sxs_thrower sxs_thrower_find(const struct sxs_runtime_code *code);

/** sxs_thrower_is_live - return 1 if the call that @t describes has not returned, as far as the
 *  memory at @t->slot tells. To be called by the thread that threw, or in its signal handler; @sp
 *  is the thread's stack pointer. Signal-safe. */
SXS_SIGSAFE int sxs_thrower_is_live(const struct sxs_thrower *t, uintptr_t sp);

#endif
