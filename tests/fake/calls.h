/* SPDX-License-Identifier: MIT */
/**
 * calls.h - simulated frames whose code calls hooks. They lie on the real stack, one C function
 * each, so stack pointers of several runtimes on one thread are in order.
 */
#ifndef FAKE_CALLS_H
#define FAKE_CALLS_H

#include "tests/fake/fake.h"

#define FAKE_FRAME_FN __attribute__((noinline))

enum fake_block { FAKE_NO_BLOCK, FAKE_FINALLY, FAKE_CATCH, FAKE_FILTER };

struct fake_call {
    struct fake_call *caller; /* NULL: the frame below all */
    struct fake_function *fn; /* NULL: native */
    uintptr_t sp, own;        /* the caller's stack pointer, and this one's */
    enum fake_block block;
    void (*run)(struct fake_call *self); /* what the block does, on top of the stack; or NULL */
    bool caught;              /* its catch block has run: it goes on, all above are gone */
};

/** The frame of the C function it stands in; its function is entered. */
#define FAKE_CALL(name, function, below)                                             \
    struct fake_call name = {.caller = (below), .fn = (function), .sp = (below)->own, \
                             .own = (uintptr_t)__builtin_frame_address(0)};          \
    fake_enter(name.fn, name.sp)
#define FAKE_ROOT(name) \
    struct fake_call name = {.own = (uintptr_t)__builtin_frame_address(0)}

enum {
    FIB, EVEN, ODD, TAIL_A, TAIL_B, OUTER, MIDDLE, INNER, THROWER, IN_FINALLY, IN_CATCH, IN_FILTER,
    CCTOR, LOST, NEXT, ENDS, LEAF, HOP, QUIET, N_WORK
};
extern struct fake_function *fake_work[N_WORK];

typedef void fake_shape(struct fake_call *below, unsigned long n);
uint64_t fake_call_fib(struct fake_call *below, unsigned long n);
/** One call of @fn, which calls nobody. */
void fake_call_leaf(struct fake_call *below, struct fake_function *fn);
/** throws.c: N rounds of exceptions of all kinds. */
fake_shape fake_call_throws;
/** crowd.c: calls among threads, runtimes, processes. */
fake_shape fake_call_hop, fake_call_fork, fake_call_late;
/** A function that is compiled and hooked, if it is selected. NULL: no room. */
struct fake_function *fake_call_compile(const char *name);

#endif
