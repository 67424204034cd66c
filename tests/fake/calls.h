/* SPDX-License-Identifier: MIT */
/**
 * calls.h - simulated managed frames whose code calls enter and leave hooks.
 *
 * Each simulated frame is the frame of one C function on the real stack. Stack pointers are
 * therefore in order even when several runtimes share a thread.
 */
#ifndef FAKE_CALLS_H
#define FAKE_CALLS_H

#include "tests/fake/fake.h"

#define FAKE_FRAME_FN __attribute__((noinline))

enum fake_block { FAKE_NO_BLOCK, FAKE_FINALLY, FAKE_CATCH, FAKE_FILTER };

struct fake_call {
    struct fake_call *caller; /* NULL: the oldest frame */
    struct fake_function *fn; /* NULL: a native frame */
    uintptr_t sp, own;        /* stack pointer of the caller, and of this frame */
    enum fake_block block;    /* the exception block that the frame has */
    void (*run)(struct fake_call *self); /* body of the block, runs on top of the stack; or NULL */
    bool caught; /* its catch block has run: the frame goes on, all younger frames are gone */
};

/** Declares the simulated frame of the enclosing C function; calls the enter hook of @function. */
#define FAKE_CALL(name, function, below)                                             \
    struct fake_call name = {.caller = (below), .fn = (function), .sp = (below)->own, \
                             .own = (uintptr_t)__builtin_frame_address(0)};          \
    fake_enter(name.fn, name.sp)
/** Declares a native frame, the oldest one, for the enclosing C function. */
#define FAKE_ROOT(name) \
    struct fake_call name = {.own = (uintptr_t)__builtin_frame_address(0)}

enum {
    FIB, EVEN, ODD, TAIL_A, TAIL_B, OUTER, MIDDLE, INNER, THROWER, IN_FINALLY, IN_CATCH, IN_FILTER,
    CCTOR, LOST, NEXT, ENDS, LEAF, HOP, QUIET, N_WORK
};
extern struct fake_function *fake_work[N_WORK];

typedef void fake_shape(struct fake_call *below, unsigned long n);
uint64_t fake_call_fib(struct fake_call *below, unsigned long n);
/** Simulates one call of @fn, which makes no calls itself. */
void fake_call_leaf(struct fake_call *below, struct fake_function *fn);
/** tests/fake/throws.c: N rounds of exceptions of all kinds. */
fake_shape fake_call_throws;
/** tests/fake/crowd.c: calls between runtimes, in forked children, and at the end of a thread. */
fake_shape fake_call_hop, fake_call_fork, fake_call_late;
/** Defines and compiles a function; its code calls hooks if the mapper selects it. Returns NULL
 *  when there is no room. */
struct fake_function *fake_call_compile(const char *name);

#endif
