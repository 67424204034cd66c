/* SPDX-License-Identifier: MIT */
/**
 * compiles.h - the compilations that are running in a runtime, and when that runtime may be asked
 * for new IL.
 *
 * Runtimes of some versions (column has_rejit_race of runtime_facts/facts.h) must not be asked to
 * re-JIT a method that a running compilation is about to inline. When such a compilation reports
 * what it inlined, the runtime finds that the inlined method has new IL by now, and requests a new
 * version of the caller itself. It does so with a wrong pointer for the caller's module, and while
 * it holds a lock that requests take in another order. The program then crashes or hangs. So a
 * request waits until every compilation has ended that was allowed to inline something, and no
 * further inlining is allowed in the meantime.
 *
 * Any thread. Takes a lock of its own, under which no runtime is called. Not signal-safe.
 */
#ifndef SXS_REJIT_METHODS_COMPILES_H
#define SXS_REJIT_METHODS_COMPILES_H

#include <pthread.h>

#include "manager/runtime.h"

/** Number of entries for compilations that inline without asking when malloc() fails. Requests do
 *  not wait for further such compilations. */
#define SXS_COMPILES_RESERVED 16u

/** One running compilation. A thread can have several of them, one within another, because
 *  compiling can load an assembly, and loading can run code. */
struct sxs_compile {
    struct sxs_compile *next; /* newest first */
    pthread_t           thread;
    FunctionID          fn;
    uintptr_t           sp;      /* the thread's approximate stack pointer at the beginning */
    int                 inlines; /* nonzero: was allowed to inline, or inlines without asking */
};

/** The running compilations of one runtime. */
struct sxs_compiles {
    pthread_mutex_t     lock;    /* guards all fields but @needed */
    pthread_cond_t      changed; /* signalled when a compilation ends or a request is done */
    int                 needed;  /* 0: a runtime without this defect; all functions do nothing */
    int                 held;    /* 1: a request waits or is being made: inlining is refused */
    int                 asking;  /* 1: a request is being made */
    struct sxs_compile *all;     /* running compilations, newest first; owned */
    /* entries for use when malloc() fails */
    struct sxs_compile reserved[SXS_COMPILES_RESERVED];
    unsigned           reserved_used; /* bit i: reserved[i] is in the list */
};

/** sxs_compiles_init - initialize @c. @needed: nonzero for a runtime with the defect. */
void sxs_compiles_init(struct sxs_compiles *c, int needed);

/**
 * sxs_compiles_begin - record that the current thread starts to compile @fn.
 * @unasked: nonzero for compilations that inline without raising JITInlining (stubs). Such a
 *           compilation counts as inlining from its start, and while a request is being made this
 *           call waits until the request is done.
 */
void sxs_compiles_begin(struct sxs_compiles *c, FunctionID fn, int unasked);

/**
 * sxs_compiles_end - record that the current thread has finished compiling @fn.
 * A compilation that an exception leaves is never reported as ended. It is dropped when the same
 * thread starts a compilation equally far up its stack, or further up.
 */
void sxs_compiles_end(struct sxs_compiles *c, FunctionID fn);

/** sxs_compiles_may_inline - return nonzero when the current thread's compilation may inline
 *  methods. */
int sxs_compiles_may_inline(struct sxs_compiles *c);

/**
 * sxs_compiles_hold - refuse inlining, and wait until no running compilation may inline.
 * @ms:   waits at most this many milliseconds.
 * @last: nonzero: after @ms, take compilations that have not ended for left by an exception.
 * Returns 0 when a request may be made, until sxs_compiles_release(). Otherwise returns the number
 * of compilations that are still running: call the function again.
 * Called by one thread at a time, which must not be compiling.
 */
unsigned sxs_compiles_hold(struct sxs_compiles *c, unsigned ms, int last);

/** sxs_compiles_release - end what sxs_compiles_hold() began: inlining is allowed again. */
void sxs_compiles_release(struct sxs_compiles *c);

#endif
