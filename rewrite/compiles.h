/* SPDX-License-Identifier: MIT */
/**
 * compiles.h - compilations in flight, and when a runtime may be asked for new IL.
 *
 * A runtime before 9.0 must not be asked for a method while a compilation is about to inline it. When that
 * compilation then tells the runtime what it inlined, the runtime sees that there is new IL by now, and asks itself
 * to compile the caller anew: with a wrong pointer for its module, and with a lock held that requests take in
 * another order. The program dies, or stands still. So a request waits until each compilation
 * has ended that was allowed to inline something, and meanwhile no more is allowed.
 *
 * Any thread; a lock inside, under which no runtime is called. Not signal-safe.
 */
#ifndef SXS_REWRITE_COMPILES_H
#define SXS_REWRITE_COMPILES_H

#include <pthread.h>

#include "manager/runtime.h"

/* Entries for what inlines without asking, used when malloc() fails. More than that are not waited for. */
#define SXS_COMPILES_RESERVED 16u

/** One compilation. A thread can be in several: compiling can load an assembly, which can run code. */
struct sxs_compile {
    struct sxs_compile *next; /* newest first */
    pthread_t           thread;
    FunctionID          fn;
    uintptr_t           sp;      /* about where the thread's stack was: it grows downwards */
    int                 inlines; /* was allowed to, or never asks */
};

/** Of one runtime. */
struct sxs_compiles {
    pthread_mutex_t     lock;
    pthread_cond_t      changed;
    int                 needed; /* 0: the runtime does it right, and nothing here does anything */
    int                 held;   /* a request waits or is being made: nothing is inlined */
    int                 asking; /* a request is being made */
    struct sxs_compile *all;    /* in flight, the newest first */
    struct sxs_compile  reserved[SXS_COMPILES_RESERVED];
    unsigned            reserved_used; /* a bit for each of them that is in the list */
};

/** sxs_compiles_init - @needed: nonzero for a runtime before 9.0. */
void sxs_compiles_init(struct sxs_compiles *c, int needed);

/**
 * sxs_compiles_begin - the current thread compiles @fn. @unasked: nonzero for what inlines without
 * asking (stubs): it counts from here on, and waits here while a request is being made.
 * sxs_compiles_end - it is done with @fn. What an exception left never ends: it is forgotten when the thread
 * compiles again, as far up its stack.
 */
void sxs_compiles_begin(struct sxs_compiles *c, FunctionID fn, int unasked);
void sxs_compiles_end(struct sxs_compiles *c, FunctionID fn);

/** sxs_compiles_may_inline - nonzero when what the current thread compiles may inline methods. */
int sxs_compiles_may_inline(struct sxs_compiles *c);

/**
 * sxs_compiles_hold - wait for what may inline, for @ms at most. Returns 0: from then until
 * sxs_compiles_release() a request may be made; else how many there still are: call again. @last: nonzero: what
 * has not ended by then is taken for left, and 0 is returned. One thread at a time, and none that compiles.
 */
unsigned sxs_compiles_hold(struct sxs_compiles *c, unsigned ms, int last);
void     sxs_compiles_release(struct sxs_compiles *c);

#endif
